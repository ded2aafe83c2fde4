import { describe, expect, it } from 'vitest'

import { hashSubmission, type SubmissionContent } from './submission.ts'

const TAGS = { by: 'ci', on: 'monday' }

const CONTENT: SubmissionContent = {
  ensemble: 'band',
  inputs: { topic: 'Bach', key: 'C' },
  tags: TAGS,
  runId: undefined,
}

describe('hashSubmission', () => {
  it('hashSubmission returns the same hash regardless of the order of keys', () => {
    const same = hashSubmission({
      runId: undefined,
      tags: { on: 'monday', by: 'ci' },
      inputs: { key: 'C', topic: 'Bach' },
      ensemble: 'band',
    })
    expect(same).toBe(hashSubmission(CONTENT))
  })

  it('hashSubmission returns the hash of the canonical content, without absent fields', () => {
    expect(hashSubmission({ ...CONTENT, threadId: undefined })).toBe(
      'a0bc3221659b584321ddb93f5681e3f14446e3d851662af1872338044351f153',
    )
  })

  it('hashSubmission returns different hashes for different content', () => {
    const contents: readonly SubmissionContent[] = [
      CONTENT,
      { ...CONTENT, ensemble: 'choir' },
      { ...CONTENT, runId: 'run-a' },
      { ...CONTENT, runId: 'null' },
      { ...CONTENT, inputs: {} },
      { ...CONTENT, inputs: { ...CONTENT.inputs, key: 'c' } },
      { ...CONTENT, inputs: { topic: 'C', key: 'Bach' } },
      { ...CONTENT, tags: {} },
      { ...CONTENT, inputs: TAGS, tags: CONTENT.inputs },
      { ...CONTENT, tags: { ...TAGS, n: 5 } },
      { ...CONTENT, tags: { ...TAGS, n: '5' } },
      { ...CONTENT, inputs: { 'topic","Bach': '' } },
      { ...CONTENT, inputs: { topic: '","Bach' } },
      { ...CONTENT, build: 'blue' },
      { ...CONTENT, startAt: '2030-01-01T00:00:00Z' },
      { ...CONTENT, startAfterMs: 1 },
      { ...CONTENT, maxQueueMs: 1 },
      { ...CONTENT, priority: 'high' },
      { ...CONTENT, fairnessKey: 'high' },
    ]
    expect(new Set(contents.map(hashSubmission)).size).toBe(contents.length)
  })
})
