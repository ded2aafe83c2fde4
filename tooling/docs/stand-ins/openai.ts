/**
 * Plays a model of OpenAI that sees: answers a question about a PNG, and refuses what the real API refuses.
 *
 * @see https://platform.openai.com/docs/guides/error-codes
 */
import { localServer } from '../../test-kit/local-server.ts'

/** First bytes of a PNG file. @see https://www.w3.org/TR/png-3/#5PNG-file-signature */
const PNG = Buffer.from('89504e470d0a1a0a', 'hex')

/** Starts the API until the end of the test, and returns its base URL. */
export async function startOpenAi(key: string): Promise<string> {
  const { origin } = await localServer((response, { headers, url, body }) => {
    const answer = (status: number, value: object): void => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value))
    }
    if (headers.authorization !== `Bearer ${key}`) {
      return answer(401, { error: { code: 'invalid_api_key', message: 'Incorrect API key' } })
    }
    if (url !== '/v1/chat/completions') {
      return answer(404, { error: { code: null, message: `Unknown request URL: POST ${url}` } })
    }
    const [question, image] = JSON.parse(body).messages[0].content
    const [, data = ''] = /^data:image\/png;base64,(.+)$/.exec(image.image_url.url) ?? []
    if (!Buffer.from(data, 'base64').subarray(0, PNG.length).equals(PNG)) {
      return answer(400, { error: { code: 'invalid_image_format', message: 'Unsupported image' } })
    }
    const content = question.text.includes('total') ? 'The total is 42 EUR.' : 'A receipt.'
    const message = { role: 'assistant', content, refusal: null }
    return answer(200, {
      id: 'chatcmpl-1',
      object: 'chat.completion',
      created: 0,
      model: 'gpt-5-mini',
      choices: [{ index: 0, message, finish_reason: 'stop', logprobs: null }],
    })
  })
  return `${origin}/v1`
}
