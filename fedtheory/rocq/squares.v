(* Roots, by the library's square root. *)

Lemma power_below : forall n x y, 0 <= x < y -> x ^ S n < y ^ S n.
Proof.
  induction n as [|n I]; intros x y H; [simpl; lra|].
  change (x * x ^ S n < y * y ^ S n); apply Rmult_le_0_lt_compat;
    [lra | apply pow_le; lra | lra | apply I; lra].
Qed.

Lemma sqrt_power : forall x, 0 <= x -> sqrt x ^ 2 = x.
Proof. exact pow2_sqrt. Qed.

Lemma fourth_root_power : forall x, 0 <= x -> sqrt (sqrt x) ^ 4 = x.
Proof.
  intros x H; replace (sqrt (sqrt x) ^ 4) with ((sqrt (sqrt x) ^ 2) ^ 2) by ring.
  rewrite !pow2_sqrt; [reflexivity | assumption | apply sqrt_pos].
Qed.

Lemma fourth_root_positive : forall x, 0 < x -> 0 < sqrt (sqrt x).
Proof. intros x H; apply sqrt_lt_R0, sqrt_lt_R0, H. Qed.

Lemma sqrt_between : forall x low high,
  0 <= low -> 0 <= high -> low ^ 2 <= x -> x <= high ^ 2 -> low <= sqrt x <= high.
Proof.
  intros x low high L H A B.
  assert (X : 0 <= x) by (pose proof (pow2_ge_0 low); lra).
  pose proof (pow2_sqrt x X) as E; pose proof (sqrt_pos x) as N; split.
  - destruct (Rle_dec low (sqrt x)) as [|C]; [assumption | exfalso].
    assert (sqrt x ^ 2 < low ^ 2) by (apply (power_below 1); lra); lra.
  - destruct (Rle_dec (sqrt x) high) as [|C]; [assumption | exfalso].
    assert (high ^ 2 < sqrt x ^ 2) by (apply (power_below 1); lra); lra.
Qed.
