use super::*;

#[test]
fn a_head_fits_whatever_the_length() {
    let mut space = [0; HEAD];
    let head = head(&mut space, usize::MAX);
    let head = core::str::from_utf8(head).expect("ASCII");
    let (before, after) = head.split_once("\r\ndate: ").expect("a date");
    assert_eq!(
        before,
        format!(
            "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}",
            usize::MAX
        )
    );
    assert!(after.ends_with(" GMT\r\n\r\n"), "{after}");
}

#[test]
fn the_date_is_now() {
    for _ in 0..2 {
        let before = SystemTime::now() - Duration::from_secs(1);
        let date = date();
        let date = core::str::from_utf8(&date).expect("ASCII");
        let date = httpdate::parse_http_date(date).expect("a date");
        assert!(before < date && date <= SystemTime::now());
    }
}
