/**
 * Reads docstrings with the compiler's own parser. TypeScript 7 does not have an API yet, so this uses version
 * 6 under the name `typescript-api`.
 */
import { readFileSync } from 'node:fs'

import ts from 'typescript-api'

/** A member of an interface. */
export interface MemberDoc {
  readonly name: string
  /** Type as written in the source. */
  readonly type: string
  readonly isOptional: boolean
  readonly text: string
  /** Text of `@default`; undefined if absent. */
  readonly byDefault: string | undefined
}

export interface InterfaceDoc {
  readonly name: string
  readonly isExported: boolean
  readonly text: string
  /** Names of the interfaces that it extends. */
  readonly bases: readonly string[]
  readonly members: readonly MemberDoc[]
}

/** Docstrings of an object schema or of a part of one. */
export interface SchemaDoc {
  readonly text: string
  /** Docstrings by field, including fields of parts that are spread into the schema. */
  readonly fields: ReadonlyMap<string, string>
}

/** Returns the interfaces of a file in order. */
export function interfacesOf(path: string): readonly InterfaceDoc[] {
  const source = parse(path)
  return source.statements.filter(ts.isInterfaceDeclaration).map((node) => ({
    name: node.name.text,
    isExported: node.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword) === true,
    text: commentOf(node),
    bases: (node.heritageClauses ?? []).flatMap(({ types }) =>
      types.map((type) => oneLine(type.getText(source))),
    ),
    members: node.members.flatMap((member) => memberOf(member, source)),
  }))
}

/** Returns the names that a file re-exports. */
export function reexportsOf(path: string): readonly string[] {
  return parse(path).statements.flatMap((statement) => {
    const clause = ts.isExportDeclaration(statement) ? statement.exportClause : undefined
    if (clause === undefined || !ts.isNamedExports(clause)) return []
    return clause.elements.map(({ name }) => name.text)
  })
}

/**
 * Returns the names that the type of each declaration of a file mentions: that is, without bodies, constructors and private
 * members.
 */
export function mentionsOf(path: string): ReadonlyMap<string, readonly string[]> {
  const source = parse(path)
  return new Map(
    source.statements.flatMap((statement): (readonly [string, readonly string[]])[] => {
      if (ts.isVariableStatement(statement)) {
        return statement.declarationList.declarations.map((each) => [
          each.name.getText(source),
          typesIn(each.type),
        ])
      }
      const isNamed =
        ts.isFunctionDeclaration(statement) ||
        ts.isClassDeclaration(statement) ||
        ts.isInterfaceDeclaration(statement) ||
        ts.isTypeAliasDeclaration(statement)
      if (!isNamed || statement.name === undefined) return []
      return [[statement.name.text, typesIn(statement)]]
    }),
  )
}

function typesIn(node: ts.Node | undefined): readonly string[] {
  const names: string[] = []
  const visit = (child: ts.Node): void => {
    const isPrivate =
      ts.isClassElement(child) && child.name !== undefined && ts.isPrivateIdentifier(child.name)
    if (isPrivate || ts.isBlock(child) || ts.isConstructorDeclaration(child)) return
    if (ts.isTypeReferenceNode(child)) names.push(child.typeName.getText())
    if (ts.isTypeQueryNode(child)) names.push(child.exprName.getText())
    if (ts.isExpressionWithTypeArguments(child)) names.push(child.expression.getText())
    ts.forEachChild(child, visit)
  }
  if (node !== undefined) visit(node)
  return names
}

function memberOf(member: ts.TypeElement, source: ts.SourceFile): readonly MemberDoc[] {
  const isField = ts.isPropertySignature(member) || ts.isMethodSignature(member)
  if (!isField || member.name === undefined) return []
  const type = ts.isMethodSignature(member)
    ? `(${member.parameters.map((each) => each.getText(source)).join(', ')}) => ${member.type?.getText(source) ?? 'void'}`
    : (member.type?.getText(source) ?? 'unknown')
  return [
    {
      name: member.name.getText(source),
      type: oneLine(type),
      isOptional: member.questionToken !== undefined,
      text: commentOf(member),
      byDefault: tagOf(member, 'default'),
    },
  ]
}

/** Returns the schemas of some files, and their parts, by name. */
export function schemasOf(paths: readonly string[]): ReadonlyMap<string, SchemaDoc> {
  const declared = paths.flatMap((path) => {
    const statements = parse(path).statements.filter(ts.isVariableStatement)
    return statements.flatMap((statement) =>
      statement.declarationList.declarations.map((declaration) => ({ statement, declaration })),
    )
  })
  const initializers = new Map(
    declared.flatMap(({ declaration: { name, initializer } }) =>
      initializer === undefined ? [] : [[name.getText(), initializer] as const],
    ),
  )
  const literals = new Map(
    [...initializers].flatMap(([name, initializer]) => {
      const literal = objectIn(initializer, initializers)
      return literal === undefined ? [] : [[name, literal] as const]
    }),
  )
  return new Map(
    declared.map(({ statement, declaration }) => {
      const name = declaration.name.getText()
      return [name, { text: commentOf(statement), fields: fieldsOf(name, literals) }]
    }),
  )
}

/** Returns the object literal of `{ … }`, `Type.Object({ … })`, `Type.Object(fields)` and `f({ … })`. */
function objectIn(
  node: ts.Expression,
  initializers: ReadonlyMap<string, ts.Expression>,
): ts.ObjectLiteralExpression | undefined {
  if (ts.isObjectLiteralExpression(node)) return node
  if (ts.isAsExpression(node) || ts.isSatisfiesExpression(node)) {
    return objectIn(node.expression, initializers)
  }
  if (!ts.isCallExpression(node)) return undefined
  const [first] = node.arguments
  if (
    first !== undefined &&
    ts.isIdentifier(first) &&
    node.expression.getText() === 'Type.Object'
  ) {
    const initializer = initializers.get(first.text)
    return initializer === undefined ? undefined : objectIn(initializer, initializers)
  }
  return node.arguments
    .map((argument) => objectIn(argument, initializers))
    .find((literal) => literal !== undefined)
}

function fieldsOf(
  name: string,
  literals: ReadonlyMap<string, ts.ObjectLiteralExpression>,
): ReadonlyMap<string, string> {
  const fields = new Map<string, string>()
  for (const property of literals.get(name)?.properties ?? []) {
    if (ts.isPropertyAssignment(property) && property.name.getText() === name) {
      // The member of a recursive schema that is the schema itself.
      const literal = objectIn(property.initializer, new Map())
      if (literal !== undefined) return fieldsOf(name, new Map([...literals, [name, literal]]))
    } else if (ts.isSpreadAssignment(property)) {
      for (const [field, text] of fieldsOf(property.expression.getText(), literals)) {
        fields.set(field, text)
      }
    } else if (property.name !== undefined) {
      fields.set(property.name.getText(), commentOf(property))
    }
  }
  return fields
}

function parse(path: string): ts.SourceFile {
  return ts.createSourceFile(path, readFileSync(path, 'utf8'), ts.ScriptTarget.Latest, true)
}

/** Returns the text of the docstring in one line, without its tags. */
function commentOf(node: ts.Node): string {
  const docs = ts.getJSDocCommentsAndTags(node).filter(ts.isJSDoc)
  return oneLine(
    plain(docs.map(({ comment }) => ts.getTextOfJSDocComment(comment) ?? '').join(' ')),
  )
}

function tagOf(node: ts.Node, name: string): string | undefined {
  const tag = ts.getJSDocTags(node).find(({ tagName }) => tagName.text === name)
  return tag === undefined ? undefined : oneLine(plain(ts.getTextOfJSDocComment(tag.comment) ?? ''))
}

/** Replaces `{@link X}` by X. */
function plain(text: string): string {
  return text.replaceAll(/\{@link ([^}]+)\}/g, '`$1`')
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim()
}
