import { describe, expect, it } from 'vitest'

import { buildEnvironment, findEnvironmentProblems } from './environment.ts'

const PARENT = {
  PATH: '/bin',
  HOME: '/home/ada',
  LANG: 'de_DE.UTF-8',
  LC_ALL: 'C',
  LC_TIME: 'C',
  TMPDIR: '/tmp',
  TZ: 'Europe/Berlin',
  API_KEY: 'secret',
  NODE_OPTIONS: '--inspect',
  EMPTY: '',
  GONE: undefined,
}
const linux = { variables: PARENT, platform: 'linux' } as const

describe('buildEnvironment', () => {
  it('buildEnvironment returns the variables that programs need to start, and no secrets', () => {
    expect(buildEnvironment({}, linux)).toEqual({
      PATH: '/bin',
      HOME: '/home/ada',
      LANG: 'de_DE.UTF-8',
      LC_ALL: 'C',
      LC_TIME: 'C',
      TMPDIR: '/tmp',
      TZ: 'Europe/Berlin',
    })
  })

  it('buildEnvironment adds the listed variables, which replace inherited ones', () => {
    const env = buildEnvironment({ env: { MODEL: 'small', PATH: '/opt/bin' } }, linux)
    expect(env).toMatchObject({ MODEL: 'small', PATH: '/opt/bin', HOME: '/home/ada' })
    expect(env).not.toHaveProperty('API_KEY')
  })

  it('buildEnvironment inherits the named variables that exist', () => {
    const env = buildEnvironment({ inheritEnv: ['API_KEY', 'EMPTY', 'GONE', 'NEVER'] }, linux)
    expect(env).toMatchObject({ API_KEY: 'secret', EMPTY: '', PATH: '/bin' })
    expect(Object.keys(env)).not.toContain('GONE')
    expect(Object.keys(env)).not.toContain('NEVER')
    expect(Object.keys(env)).not.toContain('NODE_OPTIONS')
  })

  it('buildEnvironment inherits all variables with true', () => {
    const { GONE: _, ...all } = PARENT
    expect(buildEnvironment({ inheritEnv: true, env: { TZ: 'UTC' } }, linux)).toEqual({
      ...all,
      TZ: 'UTC',
    })
  })

  it('buildEnvironment uses the names of Windows on Windows, where case does not matter', () => {
    const variables = { PATH: 'C:\\', SYSTEMROOT: 'C:\\Windows', HOME: 'x', API_KEY: 'secret' }
    const origin = { variables, platform: 'win32' } as const
    expect(buildEnvironment({}, origin)).toEqual({ PATH: 'C:\\', SYSTEMROOT: 'C:\\Windows' })
    expect(buildEnvironment({ env: { Path: 'D:\\' } }, origin)).toEqual({
      Path: 'D:\\',
      SYSTEMROOT: 'C:\\Windows',
    })
    expect(buildEnvironment({ env: { Path: '/opt' } }, linux)).toMatchObject({
      Path: '/opt',
      PATH: '/bin',
    })
  })
})

describe('findEnvironmentProblems', () => {
  it.each<[object, readonly string[]]>([
    [{ env: { A: '1' }, inheritEnv: ['B'] }, []],
    [{ env: { '': '1' } }, ['env contains the invalid name ""']],
    [{ env: { 'A=B': '1' } }, ['env contains the invalid name "A=B"']],
    [{ env: { A: 1 } }, ['env.A must be a string without NUL characters']],
    [{ env: { A: 'a\0b' } }, ['env.A must be a string without NUL characters']],
    [{ inheritEnv: false }, ['inheritEnv must be true or an array of names, got false']],
    [{ inheritEnv: 'HOME' }, ['inheritEnv must be true or an array of names, got "HOME"']],
    [{ inheritEnv: ['A', ''] }, ['inheritEnv must be true or an array of names, got ["A",""]']],
    [
      { env: { 'A=B': 1 }, inheritEnv: [1] },
      [
        'env contains the invalid name "A=B"',
        'env.A=B must be a string without NUL characters',
        'inheritEnv must be true or an array of names, got [1]',
      ],
    ],
  ])('findEnvironmentProblems returns the problems of %j: %j', (options, problems) => {
    expect(findEnvironmentProblems(options)).toEqual(problems)
  })
})
