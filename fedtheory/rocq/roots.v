(* Roots of other degrees. *)

(* The nonnegative n-th root of x; 0 where x is not positive. *)
Definition root (n : nat) (x : R) : R := if Rlt_dec 0 x then Rpower x (/ INR n) else 0.

Lemma root_nonnegative : forall n x, 0 <= root n x.
Proof.
  intros n x; unfold root; destruct (Rlt_dec 0 x); [left; apply exp_pos | lra].
Qed.

Lemma root_positive : forall n x, 0 < x -> 0 < root n x.
Proof. intros n x H; unfold root; destruct (Rlt_dec 0 x); [apply exp_pos | lra]. Qed.

Lemma root_power : forall n x, 0 <= x -> root (S n) x ^ (S n) = x.
Proof.
  intros n x H; unfold root; destruct (Rlt_dec 0 x) as [P | P].
  - rewrite <- Rpower_pow by apply exp_pos; rewrite Rpower_mult, Rinv_l, Rpower_1;
      [reflexivity | assumption | apply not_0_INR; discriminate].
  - replace x with 0 by lra; rewrite pow_ne_zero; [reflexivity | discriminate].
Qed.
