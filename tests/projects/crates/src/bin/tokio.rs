//! Tokio's multi-thread runtime: tasks, channels, a mutex, timers, a blocking pool, select and cancellation.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{Mutex, Notify, mpsc, oneshot};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, timeout};

async fn serve() {
    let total = Arc::new(Mutex::new(0));
    let (sender, mut receiver) = mpsc::channel(2);
    let mut tasks = JoinSet::new();
    for me in 0..4u32 {
        let (sender, total) = (sender.clone(), Arc::clone(&total));
        tasks.spawn(async move {
            for round in 0..3 {
                sender.send(me * 10 + round).await.unwrap();
                *total.lock().await += 1;
                tokio::task::yield_now().await;
            }
        });
    }
    drop(sender);
    let mut received = Vec::new();
    while let Some(number) = receiver.recv().await {
        received.push(number);
    }
    tasks.join_all().await;
    received.sort_unstable();
    assert_eq!(received, [0, 1, 2, 10, 11, 12, 20, 21, 22, 30, 31, 32]);
    assert_eq!(*total.lock().await, 12);
}

async fn wait() {
    let began = Instant::now();
    let slow = tokio::spawn(async {
        sleep(Duration::from_secs(3600)).await;
        1
    });
    assert!(
        timeout(Duration::from_millis(5), async { slow.await })
            .await
            .is_err()
    );
    let (answer, asked) = oneshot::channel();
    let notify = Arc::new(Notify::new());
    let notified = Arc::clone(&notify);
    tokio::spawn(async move {
        notified.notified().await;
        answer.send(42).unwrap();
    });
    let blocking = tokio::task::spawn_blocking(|| (1..=10).sum::<u32>());
    notify.notify_one();
    tokio::select! {
        number = asked => assert_eq!(number, Ok(42)),
        () = sleep(Duration::from_secs(3600)) => panic!("the answer came first"),
    }
    assert_eq!(blocking.await.unwrap(), 55);
    assert!(began.elapsed() < Duration::from_secs(3600));
}

fn main() {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_time()
        .build()
        .unwrap();
    runtime.block_on(async {
        let waiting = tokio::spawn(wait());
        serve().await;
        waiting.await.unwrap();
    });
    runtime.shutdown_timeout(Duration::from_secs(1));
}
