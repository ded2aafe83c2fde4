import { expect, it } from 'vitest'

import { toOpenAiError, toOpenAiResponse, toParam } from './errors.ts'

it('[GW-O5] The OpenAI error names the field of the first problem as OpenAI does', () => {
  expect(toParam('/messages/0/content')).toBe('messages[0].content')
  expect(toParam('/metadata/a~1b')).toBe('metadata.a/b')
  expect(toParam('')).toBeNull()
})

it('[GW-O4] The OpenAI error maps codes and statuses to those of OpenAI', () => {
  const wire = { status: 400, body: { error: 'INVALID_MODEL', message: 'Unknown model' } } as const
  expect(toOpenAiResponse(wire).status).toBe(404)
  expect(toOpenAiError(wire)).toEqual({
    error: {
      message: 'Unknown model',
      type: 'invalid_request_error',
      param: 'model',
      code: 'model_not_found',
    },
  })
  const limited = { status: 429, body: { error: 'RATE_LIMITED', message: 'Slow' } } as const
  expect(toOpenAiError(limited).error).toMatchObject({
    type: 'rate_limit_error',
    code: 'rate_limit_exceeded',
    param: null,
  })
})

it('[GW-O6] The OpenAI error advises clients not to repeat a request that cannot succeed', () => {
  const conflict = {
    status: 409,
    body: { error: 'IDEMPOTENCY_CONFLICT', message: 'Unknown model' },
  } as const
  expect(toOpenAiResponse(conflict).headers.get('x-should-retry')).toBe('false')
  const busy = {
    status: 429,
    body: { error: 'RATE_LIMITED', message: 'Slow', retryAfterMs: 1_500 },
  } as const
  const { headers } = toOpenAiResponse(busy)
  expect([headers.get('x-should-retry'), headers.get('retry-after')]).toEqual([null, '2'])
})
