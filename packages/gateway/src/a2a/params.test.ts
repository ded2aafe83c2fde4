import { describe, expect, it } from 'vitest'

import { toModernParams } from './params.ts'

describe('toModernParams', () => {
  it('[GW-P1] toModernParams accepts the names of the proto at every depth', () => {
    const message = { message_id: 'm', context_id: 'c', reference_task_ids: ['t'] }
    const configuration = { return_immediately: true, history_length: 0 }
    expect(toModernParams({ message, configuration, page_size: 2 })).toEqual({
      message: { messageId: 'm', contextId: 'c', referenceTaskIds: ['t'] },
      configuration: { returnImmediately: true, historyLength: 0 },
      pageSize: 2,
    })
  })

  it('[GW-P1] toModernParams keeps the contents of data and metadata unchanged', () => {
    const metadata = { max_cost_usd: 1, inner: { deep_er: null } }
    const parts = [{ data: { my_field: { my_other: null } }, metadata }]
    expect(toModernParams({ message: { parts, metadata }, metadata })).toEqual({
      message: { parts, metadata },
      metadata,
    })
  })

  it.each([
    [0, '1970-01-01T00:00:00.000Z'],
    [1_700_000_000_000, '2023-11-14T22:13:20.000Z'],
    [8.64e15, '+275760-09-13T00:00:00.000Z'],
    ['2023-11-14T22:13:20Z', '2023-11-14T22:13:20Z'],
    [-1, -1],
    [8.64e15 + 1_000, 8.64e15 + 1_000],
    ['yesterday', 'yesterday'],
  ])('toModernParams converts lastUpdatedAfter %j of the 1.0 drafts to %j', (sent, read) => {
    expect(toModernParams({ last_updated_after: sent })).toEqual({ statusTimestampAfter: read })
  })

  it('toModernParams prefers the name of 1.0 to the name of its drafts', () => {
    const params = { statusTimestampAfter: '2023-11-14T22:13:20Z' }
    expect(toModernParams({ ...params, lastUpdatedAfter: 5 })).toEqual(params)
  })

  it('[GW-P2] toModernParams drops null values and empty ids, but keeps empty texts', () => {
    const message = { taskId: '', contextId: null, messageId: '', parts: [{ text: '' }] }
    expect(toModernParams({ message, pageToken: '', status: '', metadata: null })).toEqual({
      message: { messageId: '', parts: [{ text: '' }] },
    })
  })

  it('[GW-P2] toModernParams keeps null as the value of a data part', () => {
    expect(toModernParams({ message: { parts: [{ data: null }] } })).toEqual({
      message: { parts: [{ data: null }] },
    })
  })

  it.each([
    [
      { kind: 'text', text: 'a' },
      { kind: 'text', text: 'a' },
    ],
    [
      { kind: 'file', file: { bytes: 'YQ==', mimeType: 'text/plain', name: 'a.txt' } },
      { kind: 'file', raw: 'YQ==', mediaType: 'text/plain', filename: 'a.txt' },
    ],
    [{ file: { uri: 'https://a.b' } }, { url: 'https://a.b' }],
    [
      { file: { fileWithBytes: 'YQ==', mediaType: 'text/plain' } },
      { raw: 'YQ==', mediaType: 'text/plain' },
    ],
    [{ file: { file_with_uri: 'https://a.b' } }, { url: 'https://a.b' }],
    [
      { raw: 'YQ==', media_type: 'text/plain' },
      { raw: 'YQ==', mediaType: 'text/plain' },
    ],
    ['no part', 'no part'],
    [null, null],
  ])('[GW-P3] toModernParams converts the part %j to %j', (part, modern) => {
    expect(toModernParams({ message: { parts: [part] } })).toEqual({ message: { parts: [modern] } })
  })

  it.each([
    ['user', 'ROLE_USER'],
    ['agent', 'ROLE_AGENT'],
    ['ROLE_USER', 'ROLE_USER'],
    ['boss', 'boss'],
    [7, 7],
  ])('[GW-P3] toModernParams converts the role %j to %j', (role, modern) => {
    expect(toModernParams({ message: { role } })).toEqual({ message: { role: modern } })
  })

  it.each([
    ['input-required', 'TASK_STATE_INPUT_REQUIRED'],
    ['completed', 'TASK_STATE_COMPLETED'],
    ['TASK_STATE_WORKING', 'TASK_STATE_WORKING'],
    ['lost', 'lost'],
    [3, 3],
  ])('[GW-P3] toModernParams converts the state %j to %j', (status, modern) => {
    expect(toModernParams({ status })).toEqual({ status: modern })
  })

  it.each([
    [{ name: 'tasks/run-1' }, { id: 'run-1' }],
    [{ name: 'run-1' }, { id: 'run-1' }],
    [{ id: 'a', name: 'tasks/b' }, { id: 'a' }],
    [{ name: 7 }, {}],
  ])('toModernParams reads the task id from %j', (params, modern) => {
    expect(toModernParams(params)).toEqual(modern)
  })

  it.each([{ message: 'text' }, { message: [] }, { message: { parts: 'text' } }])(
    'toModernParams leaves %j to the schema',
    (params) => {
      expect(toModernParams(params)).toEqual(params)
    },
  )
})
