//! Header values: what is safe stands as it is, the rest in base64 (ENC-01 to ENC-07).
