import { describe, expect, it } from 'vitest'

import { toNextHop, readRedirectTarget, type Hop } from './redirect.ts'

const body = new TextEncoder().encode('{}')

const POST: Hop = {
  url: new URL('https://a.example/start?x=1'),
  method: 'POST',
  headers: {
    accept: 'text/html',
    'accept-encoding': 'gzip',
    'accept-language': 'de',
    authorization: 'Bearer secret',
    'content-type': 'application/json',
    cookie: 'session=1',
    'user-agent': 'Tutti',
    'x-api-key': 'secret',
  },
  body,
}

describe('readRedirectTarget', () => {
  it.each([301, 302, 303, 307, 308])(
    'readRedirectTarget returns the location of a response with status %i',
    (status) => {
      expect(readRedirectTarget(status, new Headers({ location: '/there' }))).toBe('/there')
      expect(readRedirectTarget(status, new Headers())).toBeUndefined()
    },
  )

  it.each([200, 201, 300, 304, 305, 306, 400, 500])(
    'readRedirectTarget returns undefined for status %i',
    (status) => {
      expect(readRedirectTarget(status, new Headers({ location: '/there' }))).toBeUndefined()
    },
  )

  it('readRedirectTarget decodes the location as UTF-8', () => {
    const bytes = Buffer.from('/größe').toString('latin1')
    expect(readRedirectTarget(302, new Headers({ location: bytes }))).toBe('/größe')
  })
})

describe('toNextHop', () => {
  it('toNextHop resolves the target relative to the current URL', () => {
    expect(hop('../b?c').url.href).toBe('https://a.example/b?c')
    expect(hop('//b.example/x').url.href).toBe('https://b.example/x')
    expect(hop('?y').url.href).toBe('https://a.example/start?y')
    expect(hop('').url.href).toBe('https://a.example/start?x=1')
  })

  it.each([
    [301, 'POST', 'GET'],
    [302, 'POST', 'GET'],
    [303, 'POST', 'GET'],
    [303, 'PUT', 'GET'],
    [303, 'DELETE', 'GET'],
  ])(
    '[NET-D1] toNextHop continues a %i after %s with %s, without the body and its headers',
    (status, method, next) => {
      const following = hop('/b', status, { method })
      expect(following.method).toBe(next)
      expect(following).not.toHaveProperty('body')
      expect(following.headers).not.toHaveProperty('content-type')
      expect(following.headers).toHaveProperty('authorization')
    },
  )

  it.each([
    [307, 'POST'],
    [308, 'POST'],
    [301, 'PUT'],
    [302, 'DELETE'],
    [301, 'GET'],
    [303, 'GET'],
    [303, 'HEAD'],
  ])('[NET-D1] toNextHop repeats the same request for a %i after %s', (status, method) => {
    expect(hop('/b', status, { method })).toEqual({
      ...POST,
      method,
      url: new URL('https://a.example/b'),
    })
  })

  it.each(['https://b.example/', 'https://a.example:8443/', 'https://www.a.example/'])(
    '[NET-D2] toNextHop sends no secrets to %s',
    (target) => {
      const following = hop(target, 307)
      expect(following.headers).toEqual({
        accept: 'text/html',
        'accept-encoding': 'gzip',
        'accept-language': 'de',
        'content-type': 'application/json',
        'user-agent': 'Tutti',
      })
      expect(following.body).toBe(body)
      expect(hop(target, 302).headers).not.toHaveProperty('content-type')
    },
  )

  it('[NET-D2] toNextHop keeps every header within the origin', () => {
    expect(hop('https://a.example:443/b', 307).headers).toEqual(POST.headers)
  })

  it('[NET-D2] toNextHop does not restore dropped headers when a redirect returns to the origin', () => {
    const away = toNextHop(POST, { status: 307, target: 'https://b.example/' })
    const back = toNextHop(away, { status: 307, target: 'https://a.example/' })
    expect(back.headers).not.toHaveProperty('authorization')
    expect(back.headers).not.toHaveProperty('x-api-key')
  })

  it('[NET-D3] toNextHop refuses a redirect from https to http', () => {
    expect(() => hop('http://a.example/b?key=secret')).toThrow(
      'Refused to follow a redirect from https to http (a.example)',
    )
  })

  it('[NET-D3] toNextHop follows a redirect from http to https, which is another origin', () => {
    const url = new URL('http://a.example/')
    const following = hop('https://a.example/', 307, { url })
    expect(following.url.href).toBe('https://a.example/')
    expect(following.headers).not.toHaveProperty('cookie')
  })

  it('toNextHop refuses a target that is not a URL', () => {
    expect(() => hop('http://[secret')).toThrow(/^redirected to an invalid URL$/)
  })
})

function hop(target: string, status = 302, change: Partial<Hop> = {}): Hop {
  return toNextHop({ ...POST, ...change }, { status, target })
}
