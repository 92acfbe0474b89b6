use core::future::ready;
use std::sync::{Arc, Mutex};

use futures_lite::StreamExt;
use futures_lite::future::block_on;

use super::*;

/// Pages of a server: what each question gets.
fn pager(
    mut answer: impl FnMut(usize, Option<String>) -> (Vec<u32>, Option<&'static str>) + Send + 'static,
) -> Pager<u32> {
    let mut asked = 0;
    Pager::new(move |cursor| {
        asked += 1;
        let (items, next) = answer(asked, cursor);
        ready(Ok(Page {
            fingerprint: items.iter().map(|&item| u64::from(item) + 1).sum(),
            bytes: 0,
            items,
            next: next.map(str::to_owned),
        }))
    })
}

#[test]
fn every_page_is_read_and_an_empty_cursor_is_one() {
    let cursors = Arc::new(Mutex::new(Vec::new()));
    let seen = cursors.clone();
    let list = pager(move |page, cursor| {
        seen.lock().expect("one thread").push(cursor);
        match page {
            1 => (vec![1, 2], Some("")),
            2 => (vec![], Some("z")),
            _ => (vec![3], None),
        }
    });
    assert_eq!(block_on(list.collect()).expect("it ends"), [1, 2, 3]);
    let cursors = cursors.lock().expect("one thread");
    assert_eq!(*cursors, [None, Some(String::new()), Some("z".to_owned())]);
}

#[test]
fn a_circle_of_any_length_ends_with_an_error_after_its_items() {
    for length in 1..5_u32 {
        const NAMES: [&str; 5] = ["a", "b", "c", "d", "e"];
        let mut list = pager(move |page, _| {
            let at = u32::try_from(page).expect("few") % length;
            (vec![at], Some(NAMES[at as usize]))
        });
        let mut items = 0;
        let error = block_on(async {
            loop {
                match list.next().await.expect("it does not end by itself") {
                    Ok(_) => items += 1,
                    Err(error) => break error,
                }
            }
        });
        assert!(
            matches!(error, CallError::Paging(PagingFault::Circle { .. })),
            "{error}"
        );
        assert_eq!(items, length);
        assert!(block_on(list.next()).is_none());
    }
}

#[test]
fn li_01_one_cursor_for_all_pages_is_followed_while_the_pages_differ() {
    let list = pager(|page, _| {
        let page = u32::try_from(page).expect("few");
        (vec![page], Some("same"))
    });
    let error = block_on(list.max_pages(5).collect()).expect_err("it never ends");
    assert!(
        matches!(error, CallError::Paging(PagingFault::TooLong { limit: 5 })),
        "{error}"
    );
}

#[test]
fn a_list_that_is_collected_is_bounded_in_bytes_and_one_that_is_streamed_is_not() {
    let heavy = || {
        let mut page = 0;
        Pager::new(move |_| {
            page += 1;
            ready(Ok(Page {
                fingerprint: page,
                bytes: MAX_COLLECTED / 2,
                items: vec![page],
                next: (page < 4).then(|| page.to_string()),
            }))
        })
    };
    let error = block_on(heavy().collect()).expect_err("it is too long");
    assert!(
        matches!(
            error,
            CallError::Paging(PagingFault::TooLarge {
                limit: MAX_COLLECTED
            })
        ),
        "{error}"
    );
    let items = block_on(StreamExt::collect::<Vec<_>>(heavy()));
    assert_eq!(items.len(), 4);
}
