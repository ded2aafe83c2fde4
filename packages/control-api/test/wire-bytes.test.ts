/** Every reader of an event gets the same bytes. */
import { describe, expect, it } from 'vitest'

import { openServer, type TestServer } from './open-server.ts'

import type { ServerMessage } from '@tutti/protocol'

/** Returns the texts of the events in an event stream, to its end. */
async function textsOf(answer: Response | Promise<Response>): Promise<readonly string[]> {
  const text = await (await answer).text()
  return text.split('\n').flatMap((line) => (line.startsWith('data: ') ? [line.slice(6)] : []))
}

/** Returns the messages that a connection receives, up to the first one of a type. */
function receiveTexts(
  server: TestServer,
  path: string,
  last: ServerMessage['type'],
): Promise<readonly string[]> {
  const { socket } = server.connect(path)
  const texts: string[] = []
  return new Promise((resolve, reject) => {
    socket.on('error', reject)
    socket.on('message', (data: Buffer) => {
      texts.push(data.toString())
      const { type } = JSON.parse(data.toString()) as ServerMessage
      if (type !== last) return
      socket.close()
      resolve(texts)
    })
  })
}

describe('the events of a run', () => {
  it('[RUNS-K1] Live readers, late readers and readers of a shared page get the same text of each event, over SSE and WebSocket', async () => {
    await using server = await openServer()
    const runId = await server.submit()
    const path = `/api/runs/${runId}/events`
    const live = receiveTexts(server, `/runs/${runId}/ws`, 'run_result')
    const streaming = textsOf(server.get(path))
    server.play()
    const sse = await streaming
    expect(sse.length).toBeGreaterThan(10)
    for (const text of sse) expect(JSON.stringify(JSON.parse(text))).toBe(text)
    const [, ...ws] = await live
    expect(ws.at(-1)).toBe(sse.at(-1))
    expect(ws.filter((text) => !sse.includes(text))).toEqual([])
    for (let reader = 0; reader < 3; reader += 1) {
      expect(await textsOf(server.get(path))).toEqual(sse)
      const [hello = ''] = await receiveTexts(server, `/runs/${runId}/ws`, 'hello')
      const { snapshotTrace = [] } = JSON.parse(hello) as { snapshotTrace?: { seq: number }[] }
      expect(snapshotTrace.length).toBeGreaterThan(10)
      for (const { seq } of snapshotTrace) expect(hello).toContain(sse[seq])
    }
  })
})
