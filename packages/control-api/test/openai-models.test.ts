import { expect, it } from 'vitest'

import { apiKey } from '@tutti/control-api'
import { openServer } from './open-server.ts'

it('The models route lists ensembles and aliases as models, and finds one', async () => {
  await using api = await openServer()
  const list = await (await fetch(`${api.url}/v1/models`)).json()
  expect(list).toEqual({
    object: 'list',
    data: [
      { id: 'band', object: 'model', created: 0, owned_by: 'tutti' },
      { id: 'small', object: 'model', created: 0, owned_by: 'scripted' },
    ],
  })
  expect(await (await fetch(`${api.url}/v1/models/small`)).json()).toEqual(list.data[1])
})

it('[GW-O4] The models route answers an unknown model and a missing key in the shape of OpenAI', async () => {
  const apiKeys = [apiKey('a-secret-of-some-length', { name: 'app', scopes: ['runs:read'] })]
  await using api = await openServer({ apiKeys })
  const locked = await fetch(`${api.url}/v1/models`)
  expect(locked.status).toBe(401)
  expect(await locked.json()).toMatchObject({
    error: { type: 'authentication_error', code: 'invalid_api_key', param: null },
  })
  const headers = { authorization: 'Bearer a-secret-of-some-length' }
  const unknown = await fetch(`${api.url}/v1/models/smal`, { headers })
  expect(unknown.status).toBe(404)
  expect(await unknown.json()).toMatchObject({
    error: {
      message: expect.stringMatching(/Did you mean.*small/),
      type: 'invalid_request_error',
      param: 'model',
      code: 'model_not_found',
    },
  })
})
