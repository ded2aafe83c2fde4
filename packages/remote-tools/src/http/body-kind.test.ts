import { runTool } from '@tutti/core'
import { describe, expect, it } from 'vitest'

import { localServer } from '../../../../tooling/test-kit/local-server.ts'
import { findBinaryType } from './body-kind.ts'
import { httpTool } from './http-tool.ts'

const PNG = Buffer.from('89504e470d0a1a0a', 'hex')
const PDF = Buffer.from('%PDF-1.7\n%\u00e2\u00e3\n1 0 obj', 'latin1')
const ZIP = Buffer.from('504b0304140000000800', 'hex')
const GZIP = Buffer.from('1f8b0800000000000003', 'hex')
const NOISE = Buffer.from([1, 200, 3, 4, 250, 5, 6, 7, 128, 14, 15, 16])

describe('a body', () => {
  it.each([
    ['image/png', PNG, 'image/png'],
    ['IMAGE/PNG; charset=utf-8', PNG, 'image/png'],
    ['image/jpeg', Buffer.from('text'), 'image/jpeg'],
    ['audio/mpeg', NOISE, 'audio/mpeg'],
    ['video/mp4', NOISE, 'video/mp4'],
    ['font/woff2', NOISE, 'font/woff2'],
    ['application/octet-stream', Buffer.from('text'), 'application/octet-stream'],
    ['application/pdf', PDF, 'application/pdf'],
    ['application/zip', ZIP, 'application/zip'],
    [
      'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
      ZIP,
      'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
    ],
    ['application/vnd.ms-excel', NOISE, 'application/vnd.ms-excel'],
    ['application/x-protobuf', NOISE, 'application/x-protobuf'],
    ['text/plain', PNG, 'image/png'],
    ['text/html', PDF, 'application/pdf'],
    ['application/json', ZIP, 'application/zip'],
    ['text/plain; charset=utf-8', GZIP, 'application/gzip'],
    ['', PNG, 'image/png'],
    ['application/x-unknown', NOISE, 'application/octet-stream'],
    ['text/plain', Buffer.from('a\0b'), 'application/octet-stream'],
    ['text/plain', Buffer.from('ffd8ffe000', 'hex'), 'image/jpeg'],
    ['', Buffer.from('GIF89a..'), 'image/gif'],
  ])('A body of the type %j is not text: %j', (contentType, body, type) => {
    expect(findBinaryType(body, contentType)).toBe(type)
  })

  it.each([
    ['text/plain', Buffer.from('text')],
    ['application/json', Buffer.from('{"a":1}')],
    ['application/problem+json', Buffer.from('{}')],
    ['image/svg+xml', Buffer.from('<svg/>')],
    ['application/vnd.ms-x+xml', Buffer.from('<a/>')],
    ['application/vnd.openxmlformats-x+json', Buffer.from('{}')],
    ['application/x-unknown', Buffer.from('text')],
    ['', Buffer.from('text')],
    ['text/plain; charset=utf-16le', Buffer.from('text', 'utf16le')],
    ['text/plain', Buffer.from('\ufefftext', 'utf16le')],
    ['text/plain; charset=latin1', Buffer.from('caf\u00e9', 'latin1')],
    ['text/plain', Buffer.from('\u001b[31mred\u001b[0m\ttab\r\n')],
    ['image/png', Buffer.alloc(0)],
  ])('A body of the type %j can be text', (contentType, body) => {
    expect(findBinaryType(body, contentType)).toBeUndefined()
  })
})

describe('an HTTP tool', () => {
  const call = async (contentType: string, body: Buffer, status = 200) => {
    const server = await localServer((response) => {
      response.writeHead(status, { 'content-type': contentType }).end(body)
    })
    const tool = httpTool({
      name: 'h',
      description: 'd',
      method: 'GET',
      url: server.origin,
      maxResponseBytes: 1_000,
    })
    const { result } = await runTool(tool, { id: 'c', name: 'h', arguments: '{"input":""}' })
    await tool.close()
    return result.success ? result.output : result.errorMessage
  }

  it('An HTTP tool names a body that is not text', async () => {
    expect(await call('image/png', PNG)).toBe('[image: image/png, 8 bytes]')
    expect(await call('application/pdf', PDF)).toBe('[binary: application/pdf, 20 bytes]')
    expect(await call('text/plain', PNG)).toBe('[image: image/png, 8 bytes]')
    expect(await call('image/png', Buffer.alloc(5_000))).toBe(
      '[image: image/png, more than 1000 bytes]',
    )
  })

  it('An HTTP tool names the body of an error that is not text', async () => {
    expect(await call('image/png', PNG, 500)).toBe('HTTP 500: [image: image/png, 8 bytes]')
  })
})
