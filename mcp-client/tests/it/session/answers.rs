//! Answers to requests of a server that do not arrive.

use super::*;

fn status(status: u16) -> ChannelError {
    ChannelError::Status {
        status: http::StatusCode::from_u16(status).unwrap(),
        excerpt: String::new(),
        retry_after: None,
        challenge: None,
    }
}

#[tokio::test(start_paused = true)]
async fn answer_is_sent_again_until_the_server_has_it_or_refuses_it() {
    let broken = || ChannelError::Broken { source: None };
    let lasting = (0..100).map(|_| status(503)).collect();
    for (failures, attempts) in [
        (vec![], 1),
        (vec![status(503), broken(), status(500)], 4),
        // A server that does not know the request has received the answer before.
        (vec![broken(), status(400)], 2),
        (vec![broken(), status(404)], 2),
        (vec![status(400)], 1),
        (lasting, 15),
    ] {
        let (client, script, inbound) = session(Client::builder(), []).await;
        script.notes(1).await;
        let is_lasting = failures.len() == 100;
        script.fail_notes(failures);
        let ping = r#"{"jsonrpc":"2.0","id":"q","method":"ping"}"#;
        inbound.send(Frame::new(ping)).unwrap();
        sleep(Duration::from_secs(100)).await;
        let notes = script.notes(2).await;
        let answers = notes[1..]
            .iter()
            .filter(|note| note.body["id"] == "q")
            .count();
        if is_lasting {
            // It ends a minute later.
            assert!((attempts..=40).contains(&answers), "{answers}");
        } else {
            assert_eq!(answers, attempts);
        }
        drop(client);
    }
}

#[tokio::test(start_paused = true)]
async fn call_ends_when_the_answer_to_its_question_is_not_delivered() {
    let broken = || ChannelError::Broken { source: None };
    let connect = || ChannelError::Connect {
        peer: "script:".to_owned(),
        source: "refused".into(),
    };
    let lasting = || (0..100).map(|_| status(503)).collect();
    for (method, failures, cause) in [
        ("dreams/tell", vec![], None),
        ("dreams/tell", vec![status(503), broken()], None),
        // A server that refuses the answer may have received it before.
        ("dreams/tell", vec![broken(), status(400)], None),
        // Such a refusal is not about the answer: another node, a token that has expired, a proxy's limit.
        ("dreams/tell", vec![broken(), status(401)], Some("401")),
        ("dreams/tell", vec![status(502), status(403)], Some("403")),
        ("dreams/tell", vec![status(502), status(404)], Some("404")),
        ("dreams/tell", vec![status(400)], Some("400")),
        ("dreams/tell", vec![connect(), status(400)], Some("400")),
        ("dreams/tell", vec![status(429), status(403)], Some("403")),
        (
            "dreams/tell",
            vec![broken(), status(413), status(400)],
            Some("413"),
        ),
        ("dreams/tell", lasting(), Some("503")),
        // No call waits for a pong.
        ("ping", vec![status(400)], None),
    ] {
        let (client, script, inbound) = session(Client::builder(), []).await;
        script.notes(1).await;
        script.fail_notes(failures);
        tell(&inbound, &ask(7, method, &json!({})));
        sleep(Duration::from_secs(100)).await;
        let failed = script.failed_calls();
        match cause {
            None => assert_eq!(failed, []),
            Some(cause) => {
                let [(id, error)] = &failed[..] else {
                    panic!("{cause}: {failed:?}");
                };
                assert_eq!(id, &RequestId::from(7));
                assert!(error.contains("did not get the response"), "{error}");
                assert!(error.contains(cause), "{error}");
            }
        }
        drop(client);
    }
}
