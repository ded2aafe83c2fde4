/**
 * Plays Postmark: accepts mails and refuses those that the real API refuses.
 *
 * @see https://postmarkapp.com/developer/api/overview#error-codes
 */
import { localServer, type ReceivedRequest } from '../../test-kit/local-server.ts'

/** The only address whose sender signature is confirmed. */
const SENDER = 'tutti@example.com'

export interface PostmarkStandIn {
  readonly url: string
  /** Texts of the accepted mails. */
  readonly mails: readonly string[]
}

/** Checked fields of the body of `/email`. */
interface Mail {
  readonly From?: string
  readonly To?: string
  readonly TextBody?: string
}

/** Starts Postmark with one server, until the end of the test. */
export async function startPostmark(token: string): Promise<PostmarkStandIn> {
  const mails: string[] = []
  const { origin } = await localServer((response, request) => {
    const mail: Mail = JSON.parse(request.body)
    const [status, ErrorCode, Message] = judge(request, mail, token)
    if (status === 200) mails.push(mail.TextBody ?? '')
    response.writeHead(status, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ ErrorCode, Message }))
  })
  return { url: origin, mails }
}

/** Returns the status, the error code and the message of the answer. */
function judge({ url, headers }: ReceivedRequest, mail: Mail, token: string) {
  if (url !== '/email') return [404, 0, 'Not found'] as const
  if (headers['x-postmark-server-token'] !== token) {
    return [401, 10, 'Bad or missing API token'] as const
  }
  if (mail.From !== SENDER) return [422, 400, 'Sender Signature not found'] as const
  if (!/^\S+@\S+$/.test(mail.To ?? '') || mail.TextBody === undefined) {
    return [422, 300, 'Invalid email request'] as const
  }
  return [200, 0, 'OK'] as const
}
