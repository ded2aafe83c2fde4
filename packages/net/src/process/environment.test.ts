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

describe('the environment of a program', () => {
  it('is what programs need to start, and no secret of this process', () => {
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

  it('has the variables that are listed, which win over those of this process', () => {
    const env = buildEnvironment({ env: { MODEL: 'small', PATH: '/opt/bin' } }, linux)
    expect(env).toMatchObject({ MODEL: 'small', PATH: '/opt/bin', HOME: '/home/ada' })
    expect(env).not.toHaveProperty('API_KEY')
  })

  it('inherits the variables that are named, as far as there are any', () => {
    const env = buildEnvironment({ inheritEnv: ['API_KEY', 'EMPTY', 'GONE', 'NEVER'] }, linux)
    expect(env).toMatchObject({ API_KEY: 'secret', EMPTY: '', PATH: '/bin' })
    expect(Object.keys(env)).not.toContain('GONE')
    expect(Object.keys(env)).not.toContain('NEVER')
    expect(Object.keys(env)).not.toContain('NODE_OPTIONS')
  })

  it('inherits everything when that is asked for', () => {
    const { GONE: _, ...all } = PARENT
    expect(buildEnvironment({ inheritEnv: true, env: { TZ: 'UTC' } }, linux)).toEqual({
      ...all,
      TZ: 'UTC',
    })
  })

  it('is that of Windows on Windows, where names have no case', () => {
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

describe('options of an environment that do not fit', () => {
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
  ])('%j: %j', (options, problems) => {
    expect(findEnvironmentProblems(options)).toEqual(problems)
  })
})
