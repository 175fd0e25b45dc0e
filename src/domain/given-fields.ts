/** The fields that may lack a value are optional. */
type GivenFields<Fields> = { [Name in keyof Fields as undefined extends Fields[Name] ? never : Name]: Fields[Name] } & {
  [Name in keyof Fields as undefined extends Fields[Name] ? Name : never]?: Exclude<Fields[Name], undefined>
}

/** The fields that have a value. */
export function givenFields<Fields extends object>(fields: Fields): GivenFields<Fields> {
  const given: Partial<Fields> = {}
  for (const name in fields) if (fields[name] !== undefined) given[name] = fields[name]
  return given as unknown as GivenFields<Fields>
}
