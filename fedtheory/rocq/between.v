(* Numbers between two others, step by step. *)

Lemma point : forall x a : R, x = a -> a <= x <= a.
Proof. intros; lra. Qed.

Lemma add_between : forall a b c d low high x y,
  a <= x <= b -> c <= y <= d -> low <= a + c -> b + d <= high -> low <= x + y <= high.
Proof. intros; lra. Qed.

Lemma sub_between : forall a b c d low high x y,
  a <= x <= b -> c <= y <= d -> low <= a - d -> b - c <= high -> low <= x - y <= high.
Proof. intros; lra. Qed.

Lemma neg_between : forall a b x, a <= x <= b -> - b <= - x <= - a.
Proof. intros; lra. Qed.

Lemma scaled_between : forall a b low high x y, a <= x <= b ->
  low <= a * y -> low <= b * y -> a * y <= high -> b * y <= high -> low <= x * y <= high.
Proof.
  intros a b low high x y X A B C D; destruct (Rle_dec 0 y) as [P | N].
  - pose proof (Rmult_le_compat_r y a x P (proj1 X)).
    pose proof (Rmult_le_compat_r y x b P (proj2 X)); lra.
  - pose proof (Rmult_le_compat_neg_l y a x ltac:(lra) (proj1 X)).
    pose proof (Rmult_le_compat_neg_l y x b ltac:(lra) (proj2 X)); lra.
Qed.

Lemma mul_between : forall a b c d low high x y, a <= x <= b -> c <= y <= d ->
  low <= a * c -> low <= a * d -> low <= b * c -> low <= b * d ->
  a * c <= high -> a * d <= high -> b * c <= high -> b * d <= high -> low <= x * y <= high.
Proof.
  intros a b c d low high x y X Y; intros.
  assert (low <= a * y <= high) by (rewrite Rmult_comm; apply (scaled_between c d); lra).
  assert (low <= b * y <= high) by (rewrite Rmult_comm; apply (scaled_between c d); lra).
  apply (scaled_between a b); lra.
Qed.

Lemma inv_between : forall c d low high y,
  c <= y <= d -> 0 < c -> low * d <= 1 -> 1 <= high * c -> low <= / y <= high.
Proof.
  intros c d low high y Y C A B; assert (P : 0 < / y) by (apply Rinv_0_lt_compat; lra).
  assert (E : y * / y = 1) by (apply Rinv_r; lra); split.
  - destruct (Rle_dec low (/ y)) as [|N]; [assumption | exfalso].
    assert (0 < y * (low - / y)) by (apply Rmult_lt_0_compat; lra).
    assert (0 <= low * (d - y)) by (apply Rmult_le_pos; lra); lra.
  - destruct (Rle_dec (/ y) high) as [|N]; [assumption | exfalso].
    assert (0 < y * (/ y - high)) by (apply Rmult_lt_0_compat; lra).
    assert (0 < high) by (destruct (Rlt_dec 0 high) as [|M]; [assumption | exfalso];
      assert (0 <= - high * c) by (apply Rmult_le_pos; lra); lra).
    assert (0 <= high * (y - c)) by (apply Rmult_le_pos; lra); lra.
Qed.

Lemma inv_between_below : forall c d low high y,
  c <= y <= d -> d < 0 -> 1 <= low * d -> high * c <= 1 -> low <= / y <= high.
Proof.
  intros c d low high y Y D A B.
  assert (- high <= / - y <= - low) by (apply (inv_between (- d) (- c)); lra).
  rewrite Rinv_opp in H; lra.
Qed.

Lemma abs_between_above : forall a b x, a <= x <= b -> 0 <= a -> a <= Rabs x <= b.
Proof. intros; rewrite Rabs_right; lra. Qed.

Lemma abs_between_below : forall a b x, a <= x <= b -> b <= 0 -> - b <= Rabs x <= - a.
Proof. intros; rewrite Rabs_left1; lra. Qed.

Lemma max_between : forall a b c d low high x y, a <= x <= b -> c <= y <= d ->
  low <= a \/ low <= c -> b <= high -> d <= high -> low <= Rmax x y <= high.
Proof. intros; unfold Rmax; destruct (Rle_dec x y); lra. Qed.

Lemma min_between : forall a b c d low high x y, a <= x <= b -> c <= y <= d ->
  low <= a -> low <= c -> b <= high \/ d <= high -> low <= Rmin x y <= high.
Proof. intros; unfold Rmin; destruct (Rle_dec x y); lra. Qed.

Lemma sqrt_point : forall x r, 0 <= r -> r ^ 2 = x -> sqrt x = r.
Proof. intros x r H E; rewrite <- E; apply sqrt_pow2, H. Qed.

Lemma root_step : forall a b low high x, a <= x <= b ->
  0 <= low -> 0 <= high -> low ^ 2 <= a -> b <= high ^ 2 -> low <= sqrt x <= high.
Proof. intros; apply sqrt_between; lra. Qed.
