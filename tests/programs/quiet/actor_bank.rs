// A bank as an actor: clients send requests with a channel for the answer. The actor ends when the last client has
// dropped its end; an auditor asks while transfers go on.
use std::collections::BTreeMap;
use std::sync::mpsc::{self, Receiver, Sender, SyncSender};
use std::thread::{self, JoinHandle};

enum Request {
    Deposit { account: u32, amount: u64 },
    Transfer { from: u32, to: u32, amount: u64, done: SyncSender<Result<(), Refused>> },
    Total { reply: Sender<u64> },
}

#[derive(Debug, PartialEq)]
struct Refused {
    balance: u64,
}

#[derive(Default)]
struct Bank {
    accounts: BTreeMap<u32, u64>,
    served: usize,
}

impl Bank {
    fn serve(mut self, requests: Receiver<Request>) -> Self {
        for request in requests {
            self.served += 1;
            match request {
                Request::Deposit { account, amount } => *self.accounts.entry(account).or_default() += amount,
                Request::Transfer { from, to, amount, done } => {
                    // A client that has gone away does not want to know.
                    let _ = done.send(self.transfer(from, to, amount));
                }
                Request::Total { reply } => {
                    let _ = reply.send(self.accounts.values().sum());
                }
            }
        }
        self
    }

    fn transfer(&mut self, from: u32, to: u32, amount: u64) -> Result<(), Refused> {
        let source = self.accounts.entry(from).or_default();
        match source.checked_sub(amount) {
            Some(rest) => *source = rest,
            None => return Err(Refused { balance: *source }),
        }
        *self.accounts.entry(to).or_default() += amount;
        Ok(())
    }
}

fn client(bank: Sender<Request>, own: u32, other: u32) -> JoinHandle<usize> {
    thread::spawn(move || {
        let mut refused = 0;
        for amount in [30, 60, 40] {
            let (done, answer) = mpsc::sync_channel(1);
            bank.send(Request::Transfer { from: own, to: other, amount, done }).unwrap();
            match answer.recv().unwrap() {
                Ok(()) => {}
                Err(Refused { balance }) => {
                    assert!(balance < amount);
                    refused += 1;
                }
            }
        }
        refused
    })
}

fn main() {
    let (bank, requests) = mpsc::channel();
    let actor = thread::spawn(|| Bank::default().serve(requests));
    for account in [1, 2] {
        bank.send(Request::Deposit { account, amount: 100 }).unwrap();
    }
    let clients = [client(bank.clone(), 1, 2), client(bank.clone(), 2, 1)];
    let auditor = {
        let bank = bank.clone();
        thread::spawn(move || {
            for _ in 0..2 {
                let (reply, total) = mpsc::channel();
                bank.send(Request::Total { reply }).unwrap();
                assert_eq!(total.recv(), Ok(200));
            }
            // Asks once more and does not wait for the answer.
            let (reply, _) = mpsc::channel();
            bank.send(Request::Total { reply }).unwrap();
        })
    };
    drop(bank);
    let refused: Vec<_> = clients.into_iter().map(|it| it.join().unwrap()).collect();
    auditor.join().unwrap();
    let bank = actor.join().unwrap();
    assert_eq!(bank.served, 2 + 6 + 3);
    assert_eq!(bank.accounts.values().sum::<u64>(), 200);
    println!("refused: {refused:?}, accounts: {:?}", bank.accounts);
}
