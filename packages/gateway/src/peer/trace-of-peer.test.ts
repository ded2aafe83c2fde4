import { expect, it } from 'vitest'

import { traceOfPeer } from './trace-of-peer.ts'

const TRACEPARENT = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'

it('takes the trace of the peer, and none that is not as it should be', () => {
  const traceContext = { traceparent: TRACEPARENT, tracestate: 'a=1' }
  expect(traceOfPeer({ traceContext })).toEqual(traceContext)
  expect(traceOfPeer({ traceContext: { traceparent: '00-1-2-01' } })).toEqual({})
  expect(traceOfPeer({})).toEqual({})
})
