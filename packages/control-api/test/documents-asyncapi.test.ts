import { readFileSync } from 'node:fs'

import {
  CLIENT_MESSAGE_TYPES,
  RUN_EVENT_TYPES,
  SERVER_MESSAGE_TYPES,
} from '@tutti/protocol/internal'
import { Ajv } from 'ajv'
import addFormats from 'ajv-formats'
import { describe, expect, it } from 'vitest'

import { EXTENSIONS } from '../../../tooling/test-kit/compat.ts'
import { buildAsyncApiDocument } from '../src/documents/async-api-document.ts'
import { partOf, schemaCheck } from './answers-schemas.ts'

const document = buildAsyncApiDocument(EXTENSIONS)
const check = schemaCheck('asyncapi', document)

/** Official schema of AsyncAPI 3.0 documents. */
const SPECIFICATION = new URL(import.meta.resolve('@asyncapi/specs/schemas/3.0.0.json'))

describe('the AsyncAPI document', () => {
  it('The AsyncAPI document is valid AsyncAPI 3.0, by the schema of the specification', () => {
    // The schema file includes the meta-schema of JSON Schema.
    const ajv = new Ajv({ strict: false, meta: false, validateSchema: false })
    addFormats.default(ajv)
    const validate = ajv.compile(JSON.parse(readFileSync(SPECIFICATION, 'utf8')))
    expect([validate(document), validate.errors]).toEqual([true, null])
    expect(validate({ ...document, channels: { wrong: { addres: 1 } } })).toBe(false)
  })

  it('The AsyncAPI document has a schema for every message of both directions, by type', () => {
    expect(Object.keys(document.components.messages).toSorted()).toEqual(
      [...CLIENT_MESSAGE_TYPES, ...SERVER_MESSAGE_TYPES].toSorted(),
    )
    for (const [type, { payload }] of Object.entries(document.components.messages)) {
      const place = { runId: 'run-1', seq: 0, id: 'run-1:0' }
      expect(check(payload, { type: 'another', ...place }), type).not.toEqual([])
      expect(JSON.stringify(check(payload, { type })), type).not.toContain('/type')
    }
  })

  it('The AsyncAPI document describes every message and every schema', () => {
    const { messages, schemas } = document.components
    for (const [type, { summary }] of Object.entries(messages)) {
      expect(summary, type).toMatch(/^[A-Z].+\.$/)
    }
    for (const [name, { description }] of Object.entries(schemas)) {
      expect(description, name).toMatch(/^[A-Z].+[.)]$/)
    }
  })

  it('The AsyncAPI document has the fields and the log position of every event', () => {
    for (const type of RUN_EVENT_TYPES) {
      const { allOf } = document.components.messages[type]?.payload ?? {}
      expect(allOf, type).toEqual([
        { $ref: expect.stringMatching(/^#\/components\/schemas\/(?!EventPosition)/) },
        { $ref: '#/components/schemas/EventPosition' },
        { $ref: '#/components/schemas/RepeatedTexts' },
      ])
    }
  })

  it('The AsyncAPI document describes the query of the connection URL', () => {
    for (const channel of ['everything', 'oneRun']) {
      const { bindings } = document.channels[channel] ?? {}
      expect(bindings).toMatchObject({
        ws: {
          query: {
            type: 'object',
            properties: { ticket: { type: 'string' }, snapshot: { enum: ['all', 'none'] } },
          },
        },
      })
    }
  })

  it('The AsyncAPI document receives every client message and lists its replies', () => {
    for (const channel of ['everything', 'oneRun']) {
      const received = CLIENT_MESSAGE_TYPES.map((type) => document.operations[`${channel}.${type}`])
      for (const [index, operation] of received.entries()) {
        const type = CLIENT_MESSAGE_TYPES[index]
        expect(operation).toMatchObject({
          action: 'receive',
          messages: [{ $ref: `#/channels/${channel}/messages/${type}` }],
        })
        expect(JSON.stringify(operation?.['reply'])).toContain(`${channel}/messages/error`)
      }
    }
  })

  it('The AsyncAPI document sends every server message, as a reply or not', () => {
    const { operations } = document
    const sent = Object.entries(operations).flatMap(([name, { action, messages, reply }]) => {
      if (!name.startsWith('everything.')) return []
      const listed = action === 'send' ? messages : (reply as { messages: unknown }).messages
      return (listed as { $ref: string }[]).map(({ $ref }) => $ref.split('/').at(-1))
    })
    expect(new Set(sent)).toEqual(new Set(SERVER_MESSAGE_TYPES))
  })

  it('The AsyncAPI document has no dangling references', () => {
    const text = JSON.stringify(document)
    for (const [, reference = ''] of text.matchAll(/"\$ref":"([^"]+)"/g)) {
      expect(() => partOf(document, reference)).not.toThrow()
    }
  })
})
