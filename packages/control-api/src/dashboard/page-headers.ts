/** What the page of the dashboard may do, and how long it is kept. */

/**
 * The page loads what its server has and asks its server alone, over HTTP and WebSocket. No script is inside
 * of it, and none is made of text. @see https://www.w3.org/TR/CSP3/
 */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "manifest-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
].join('; ')

/** What of the machine no page needs that shows runs. */
const NO_DEVICES = ['camera', 'display-capture', 'geolocation', 'microphone', 'payment', 'usb']

/** Asked for again each time, and nearly always answered with 304: a new version shows at once. */
export const ASK_AGAIN = 'no-cache'

/** The headers of the page. */
export const PAGE_HEADERS: Readonly<Record<string, string>> = {
  'content-type': 'text/html; charset=utf-8',
  'cache-control': ASK_AGAIN,
  'content-security-policy': POLICY,
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'permissions-policy': NO_DEVICES.map((device) => `${device}=()`).join(', '),
}
