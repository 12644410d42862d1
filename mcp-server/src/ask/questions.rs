//! Several questions at once.

use futures_util::stream::FuturesUnordered;
use futures_util::{TryFutureExt, TryStreamExt, try_join};

use super::asking::Asking;
use crate::input_round::AskError;

/// Questions for [`Ask::all`](super::Ask::all): a tuple with up to eight, or a `Vec` of questions
/// with the same answer type. The answers are in the order of the questions.
pub trait Questions: Send + sealed::AskAll {}

impl<Q: Send + sealed::AskAll> Questions for Q {}

mod sealed {
    use crate::input_round::AskError;

    #[expect(unnameable_types, reason = "seals the trait")]
    pub trait AskAll {
        type Answers;

        /// Asks all questions and waits for all answers.
        fn answers(self) -> impl Future<Output = Result<Self::Answers, AskError>> + Send;
    }
}

macro_rules! tuples {
    ($(($($answer:ident $question:ident),+);)*) => {
        $(
            impl<$($answer: Send),+> sealed::AskAll for ($(Asking<$answer>,)+) {
                type Answers = ($($answer,)+);

                async fn answers(self) -> Result<Self::Answers, AskError> {
                    let ($($question,)+) = self;
                    try_join!($($question),+)
                }
            }
        )*
    };
}

tuples! {
    (A a);
    (A a, B b);
    (A a, B b, C c);
    (A a, B b, C c, D d);
    (A a, B b, C c, D d, E e);
    (A a, B b, C c, D d, E e, F f);
    (A a, B b, C c, D d, E e, F f, G g);
    (A a, B b, C c, D d, E e, F f, G g, H h);
}

impl<A: Send> sealed::AskAll for Vec<Asking<A>> {
    type Answers = Vec<A>;

    // `try_join_all` waits for the answers in order, so an invalid question would be reported late.
    async fn answers(self) -> Result<Vec<A>, AskError> {
        let questions: FuturesUnordered<_> = self
            .into_iter()
            .enumerate()
            .map(|(index, question)| question.map_ok(move |answer| (index, answer)))
            .collect();
        let mut answers: Vec<_> = questions.try_collect().await?;
        answers.sort_unstable_by_key(|(index, _)| *index);
        Ok(answers.into_iter().map(|(_, answer)| answer).collect())
    }
}
