use super::SseParser;
