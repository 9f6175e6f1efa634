(* A real inner product space, of any dimension. *)
Record InnerProductSpace := {
  vector :> Type;
  plus : vector -> vector -> vector;
  times : R -> vector -> vector;
  inner : vector -> vector -> R;
  inner_symmetric : forall v w, inner v w = inner w v;
  inner_plus : forall u v w, inner (plus u v) w = inner u w + inner v w;
  inner_times : forall a v w, inner (times a v) w = a * inner v w;
  inner_nonnegative : forall v, 0 <= inner v v }.
Arguments plus {_}. Arguments times {_}. Arguments inner {_}.
Arguments inner_symmetric {_}. Arguments inner_plus {_}.
Arguments inner_times {_}. Arguments inner_nonnegative {_}.
Infix "|+|" := plus (at level 50, left associativity).
Infix "|*|" := times (at level 40, left associativity).

Section Gram.
Variable V : InnerProductSpace.
Implicit Types u v w : V.

Lemma inner_plus_right : forall u v w, inner w (u |+| v) = inner w u + inner w v.
Proof.
  intros; rewrite inner_symmetric, inner_plus, (inner_symmetric u), (inner_symmetric v); reflexivity.
Qed.
Lemma inner_times_right : forall a v w, inner w (a |*| v) = a * inner w v.
Proof. intros; rewrite inner_symmetric, inner_times, (inner_symmetric v); reflexivity. Qed.

Ltac expanded H := repeat first [rewrite inner_plus in H | rewrite inner_plus_right in H
  | rewrite inner_times in H | rewrite inner_times_right in H].

Lemma cauchy_schwarz : forall v w, inner v w ^ 2 <= inner v v * inner w w.
Proof.
  assert (half : forall v w, 0 < inner v v -> inner v w ^ 2 <= inner v v * inner w w).
  { intros v w P.
    pose proof (inner_nonnegative (inner v v |*| w |+| - inner v w |*| v)) as H.
    expanded H; rewrite ?(inner_symmetric w v) in H.
    destruct (Rle_dec (inner v w ^ 2) (inner v v * inner w w)) as [|N]; [assumption | exfalso].
    assert (0 < inner v v * (inner v w ^ 2 - inner v v * inner w w))
      by (apply Rmult_lt_0_compat; lra).
    lra. }
  intros v w; pose proof (inner_nonnegative v) as Pv; pose proof (inner_nonnegative w) as Pw.
  destruct (Rlt_dec 0 (inner v v)) as [P | Zv]; [apply half, P|].
  destruct (Rlt_dec 0 (inner w w)) as [P | Zw].
  - rewrite inner_symmetric, (Rmult_comm (inner v v)); apply half, P.
  - replace (inner v v) with 0 by lra.
    pose proof (inner_nonnegative (v |+| w)) as A; pose proof (inner_nonnegative (v |+| -1 |*| w)) as B.
    expanded A; expanded B; rewrite (inner_symmetric w v) in A, B.
    replace (inner v w) with 0 by lra; lra.
Qed.

(* Principal minors of Gram matrices, of one, two and three vectors. *)
Lemma gram_1 : forall v, 0 <= inner v v.
Proof. exact inner_nonnegative. Qed.

Lemma gram_2 : forall v w, 0 <= inner v v * inner w w - inner v w * inner w v.
Proof. intros v w; pose proof (cauchy_schwarz v w); rewrite (inner_symmetric w v); lra. Qed.

Lemma gram_3 : forall u v w,
  0 <= inner u u * (inner v v * inner w w - inner v w * inner w v)
     - inner u v * (inner v u * inner w w - inner v w * inner w u)
     + inner u w * (inner v u * inner w v - inner v v * inner w u).
Proof.
  intros u v w; rewrite (inner_symmetric v u), (inner_symmetric w u), (inner_symmetric w v).
  destruct (Rlt_dec 0 (inner u u)) as [P | Z].
  - set (p := inner u u |*| v |+| - inner u v |*| u).
    set (q := inner u u |*| w |+| - inner u w |*| u).
    pose proof (cauchy_schwarz p q) as H; unfold p, q in H.
    expanded H.
    rewrite ?(inner_symmetric v u), ?(inner_symmetric w u), ?(inner_symmetric w v) in H.
    match goal with |- 0 <= ?d => destruct (Rle_dec 0 d) as [|N]; [assumption | exfalso];
      assert (0 < inner u u ^ 3 * - d) by (apply Rmult_lt_0_compat; [apply pow_lt, P | lra]) end.
    lra.
  - pose proof (inner_nonnegative u) as N.
    pose proof (cauchy_schwarz u v) as A; pose proof (cauchy_schwarz u w) as B.
    replace (inner u u) with 0 in * by lra.
    assert (forall x, x ^ 2 <= 0 -> x = 0) as zero.
    { intros x X; pose proof (pow2_ge_0 x); destruct (Rmult_integral x x); lra. }
    rewrite (zero (inner u v)), (zero (inner u w)) by lra; lra.
Qed.
End Gram.

(* R^d is one. *)
Fixpoint sum (d : nat) (f : nat -> R) : R :=
  match d with O => 0 | S n => sum n f + f n end.

Definition coordinates (d : nat) : InnerProductSpace.
Proof.
  refine (Build_InnerProductSpace (nat -> R)
    (fun v w j => v j + w j) (fun a v j => a * v j) (fun v w => sum d (fun j => v j * w j)) _ _ _ _);
  induction d as [|d I]; simpl; intros; try lra;
  [rewrite I | rewrite I | rewrite I | specialize (I v); pose proof (Rle_0_sqr (v d)) as Q; unfold Rsqr in Q]; lra.
Defined.

Ltac opened := repeat first [rewrite inner_plus | rewrite inner_plus_right
  | rewrite inner_times | rewrite inner_times_right].
