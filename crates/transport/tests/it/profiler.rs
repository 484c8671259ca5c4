//! A server's profiler, told to start and to stop.

use fizeau_transport::{ProfilerError, ProfilerOrder, order_profiler};

use crate::http::target;
use crate::server::{Server, plain};

#[tokio::test]
async fn it_is_told_by_a_post_and_a_refusal_has_its_status() {
    let scripts = ["200 OK", "200 OK", "404 Not Found"].map(|status| plain(status, "", ""));
    let server = Server::run(scripts.into());
    let target = target(&server.url());
    order_profiler(&target, ProfilerOrder::Start).await.unwrap();
    order_profiler(&target, ProfilerOrder::Stop).await.unwrap();
    let refused = order_profiler(&target, ProfilerOrder::Start).await.unwrap_err();
    let ProfilerError::Refused { path: "/start_profile", status, .. } = refused else {
        panic!("{refused}")
    };
    assert_eq!(status, "status 404");
    let asked = server.requests();
    let lines: Vec<&str> = asked.iter().filter_map(|request| request.lines().next()).collect();
    let [start, stop] =
        ["/start_profile", "/stop_profile"].map(|path| format!("POST {path} HTTP/1.1"));
    assert_eq!(lines, [&*start, &*stop, &*start]);
}
