(* Steps of proofs by algebra. *)

(* What a line says of the polynomial that is left when its two sides are cleared of denominators. *)
Lemma cleared_le : forall l h f p, l <= h -> 0 < f -> f * (h - l) = p -> 0 <= p.
Proof. intros l h f p H F E; rewrite <- E; apply Rmult_le_pos; lra. Qed.

Lemma cleared_lt : forall l h f p, l < h -> 0 < f -> f * (h - l) = p -> 0 < p.
Proof. intros l h f p H F E; rewrite <- E; apply Rmult_lt_0_compat; lra. Qed.

Lemma shown_le : forall l h f s t, 0 < f -> 0 < s -> 0 <= t -> s * (f * (h - l)) = t -> l <= h.
Proof.
  intros l h f s t F S T E; destruct (Rle_dec l h) as [|N]; [assumption | exfalso].
  assert (0 < s * (f * (l - h))) by (repeat apply Rmult_lt_0_compat; lra).
  replace (s * (f * (l - h))) with (- t) in H by (rewrite <- E; ring); lra.
Qed.

Lemma shown_lt : forall l h f s t, 0 < f -> 0 < s -> 0 < t -> s * (f * (h - l)) = t -> l < h.
Proof.
  intros l h f s t F S T E; destruct (Rlt_dec l h) as [|N]; [assumption | exfalso].
  assert (0 <= s * (f * (l - h))) by (repeat apply Rmult_le_pos; lra).
  replace (s * (f * (l - h))) with (- t) in H by (rewrite <- E; ring); lra.
Qed.

Lemma shown_eq : forall l h f, 0 < f -> f * (h - l) = 0 -> l = h.
Proof. intros l h f F E; destruct (Rmult_integral _ _ E); lra. Qed.

(* A symbol's value, from an equation that is linear in it. *)
Lemma solved : forall l h f s x v, l = h -> s <> 0 -> f * (h - l) = s * (x - v) -> x = v.
Proof.
  intros l h f s x v H S E; assert (D : s * (x - v) = 0) by (rewrite <- E, H; ring).
  destruct (Rmult_integral _ _ D); lra.
Qed.

Lemma positive_quotient : forall x f p, 0 < f -> 0 < p -> f * x = p -> 0 < x.
Proof.
  intros x f p F P E; destruct (Rlt_dec 0 x) as [|N]; [assumption | exfalso].
  assert (0 <= f * (- x)) by (apply Rmult_le_pos; lra).
  replace (f * - x) with (- p) in H by (rewrite <- E; ring); lra.
Qed.

Lemma nonnegative_quotient : forall x f p, 0 < f -> 0 <= p -> f * x = p -> 0 <= x.
Proof.
  intros x f p F P E; destruct (Rle_dec 0 x) as [|N]; [assumption | exfalso].
  assert (0 < f * (- x)) by (apply Rmult_lt_0_compat; lra).
  replace (f * - x) with (- p) in H by (rewrite <- E; ring); lra.
Qed.

Lemma even_power : forall x k, 0 <= x ^ (2 * k).
Proof. intros x k; rewrite pow_mult; apply pow_le, pow2_ge_0. Qed.

Lemma square : forall x, 0 <= x ^ 2.
Proof. exact pow2_ge_0. Qed.

Lemma not_zero : forall p q, 0 < p -> q = p -> q <> 0.
Proof. intros p q P E; lra. Qed.

Lemma not_zero_below : forall p q, 0 < p -> - q = p -> q <> 0.
Proof. intros p q P E; lra. Qed.

Ltac nonzero H := first [exact (Rgt_not_eq _ _ H)
  | apply (not_zero _ _ H); ring | apply (not_zero_below _ _ H); ring].

(* One of two cases. *)
Lemma cases_le : forall a b m v w : R,
  m = (if Rle_dec a b then v else w) -> a <= b /\ m = v \/ a > b /\ m = w.
Proof. intros a b m v w E; destruct (Rle_dec a b); [left | right]; split; lra. Qed.
Lemma cases_lt : forall a b m v w : R,
  m = (if Rlt_dec a b then v else w) -> a < b /\ m = v \/ a >= b /\ m = w.
Proof. intros a b m v w E; destruct (Rlt_dec a b); [left | right]; split; lra. Qed.
Lemma cases_ge : forall a b m v w : R,
  m = (if Rge_dec a b then v else w) -> a >= b /\ m = v \/ a < b /\ m = w.
Proof. intros a b m v w E; destruct (Rge_dec a b); [left | right]; split; lra. Qed.
Lemma cases_gt : forall a b m v w : R,
  m = (if Rgt_dec a b then v else w) -> a > b /\ m = v \/ a <= b /\ m = w.
Proof. intros a b m v w E; destruct (Rgt_dec a b); [left | right]; split; lra. Qed.
