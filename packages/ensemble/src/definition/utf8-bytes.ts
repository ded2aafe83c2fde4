/** Bytes of `text` in UTF-8, counted without encoding it. */
export function utf8Bytes(text: string): number {
  let bytes = text.length
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index)
    if (unit < 0x80) continue
    // A surrogate pair has four bytes for its two units.
    const isSurrogate = unit >= 0xd8_00 && unit <= 0xdf_ff
    bytes += unit < 0x8_00 || isSurrogate ? 1 : 2
  }
  return bytes
}
