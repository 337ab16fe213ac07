package admin

import "strings"

// openAPI describes /api/v2, from the routes themselves.
func openAPI() map[string]any {
	paths := map[string]map[string]any{}
	for _, r := range v2Routes() {
		if paths[r.path] == nil {
			paths[r.path] = map[string]any{}
		}
		paths[r.path][strings.ToLower(r.method)] = operation(r)
	}
	return map[string]any{
		"openapi": "3.0.3",
		"info":    map[string]any{"title": "kingshard administration", "version": "2"},
		"paths":   paths,
		"components": map[string]any{
			"securitySchemes": map[string]any{
				"basic": map[string]any{"type": "http", "scheme": "basic", "description": "web_user and web_password"},
				"token": map[string]any{"type": "http", "scheme": "bearer", "description": "a token of web_tokens"},
			},
			"schemas": map[string]any{"Error": object([]string{"error"}, map[string]any{
				"error": object([]string{"code", "reason"}, map[string]any{
					"code":   map[string]any{"type": "integer", "description": "as in docs/errors.md; 0: none"},
					"reason": map[string]any{"type": "string"},
				}),
			})},
		},
		"security": []any{map[string]any{"basic": []any{}}, map[string]any{"token": []any{}}},
	}
}

func operation(r route) map[string]any {
	answer := map[string]any{"type": "object", "description": r.answer}
	if r.columns != nil {
		answer = object([]string{"rows"}, map[string]any{"rows": map[string]any{"type": "array", "items": rowSchema(r.columns)}})
	}
	responses := map[string]any{"200": map[string]any{"description": "done", "content": jsonOf(answer)}}
	for status, about := range map[string]string{
		"400": "written wrongly, or a statement that is refused", "401": "no login", "403": "not with these rights", "409": "not done, for the reason given",
	} {
		responses[status] = map[string]any{"description": about, "content": jsonOf(map[string]any{"$ref": "#/components/schemas/Error"})}
	}
	op := map[string]any{"summary": r.about, "description": "Needs the rights " + r.rights.String() + ".", "responses": responses}
	if parameters := parametersOf(r); len(parameters) > 0 {
		op["parameters"] = parameters
	}
	if len(r.body) > 0 {
		keys := map[string]any{}
		for _, f := range r.body {
			keys[f.name] = map[string]any{"type": f.kind, "description": f.about}
		}
		op["requestBody"] = map[string]any{"content": jsonOf(object(nil, keys))}
	}
	return op
}

// parametersOf lists those of the path and, for tables, those that choose rows.
func parametersOf(r route) (list []any) {
	parameter := func(name, in, kind, about string) {
		list = append(list, map[string]any{"name": name, "in": in, "required": in == "path", "description": about, "schema": map[string]any{"type": kind}})
	}
	for part := range strings.SplitSeq(r.path, "/") {
		if name, is := strings.CutPrefix(part, "{"); is {
			parameter(strings.TrimSuffix(name, "}"), "path", "string", "")
		}
	}
	if r.method == "GET" && r.columns != nil {
		parameter("like", "query", "string", "a pattern of LIKE")
		parameter("order", "query", "string", "columns, with - for descending, joined by commas")
		parameter("limit", "query", "integer", "rows at most")
		parameter("offset", "query", "integer", "rows to pass over")
		for _, c := range r.columns {
			parameter(c.name, "query", typeOf(c), "rows with this value only")
		}
	}
	return list
}

func rowSchema(columns []column) map[string]any {
	keys, names := map[string]any{}, []string{}
	for _, c := range columns {
		keys[c.name] = map[string]any{"nullable": true}
		if c.numeric {
			keys[c.name] = map[string]any{"type": "number", "nullable": true}
		}
		names = append(names, c.name)
	}
	return object(names, keys)
}

func typeOf(c column) string {
	if c.numeric {
		return "number"
	}
	return "string"
}

func object(required []string, keys map[string]any) map[string]any {
	o := map[string]any{"type": "object", "properties": keys}
	if len(required) > 0 {
		o["required"] = required
	}
	return o
}

func jsonOf(schema map[string]any) map[string]any {
	return map[string]any{"application/json": map[string]any{"schema": schema}}
}
