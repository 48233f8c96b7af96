// This is the part of the standard library that is written in Jsonnet.
//
// It has what go-jsonnet has in Jsonnet, since what such a function accepts, and which of its arguments it looks at, follows
// from its definition. What begins with `$` is a faster way for arguments of the usual types.

{
  local std = self,
  local id = function(x) x,
  local wrong(name, position, wanted, value) =
    error '%s argument of `std.%s` is expected to be %s, got %s' % [position, name, wanted, std.type(value)],

  // Numbers

  abs(n)::
    if std.isNumber(n) then (if n > 0 then n else -n) else wrong('abs', 'first', 'number', n),

  sign(n)::
    if !std.isNumber(n) then wrong('sign', 'first', 'number', n)
    else if n > 0 then 1
    else if n < 0 then -1
    else 0,

  max(a, b)::
    if !std.isNumber(a) then wrong('max', 'first', 'number', a)
    else if !std.isNumber(b) then wrong('max', 'second', 'number', b)
    else if a > b then a else b,

  min(a, b)::
    if !std.isNumber(a) then wrong('min', 'first', 'number', a)
    else if !std.isNumber(b) then wrong('min', 'second', 'number', b)
    else if a < b then a else b,

  clamp(x, minVal, maxVal)::
    if x < minVal then minVal
    else if x > maxVal then maxVal
    else x,

  deg2rad(x):: x * std.pi / 180,
  rad2deg(x):: x * 180 / std.pi,
  log2(x):: std.log(x) / std.log(2),
  log10(x):: std.log(x) / std.log(10),

  // Digits are what lies in order from '0', 'A' or 'a', so ':' is the one after '9'.
  local natural(text, base) =
    local digit(char) =
      local code = std.codepoint(char);
      local value =
        if code >= std.codepoint('a') then code - std.codepoint('a') + 10
        else if code >= std.codepoint('A') then code - std.codepoint('A') + 10
        else code - std.codepoint('0');
      if value >= 0 && value < base then value
      else error '%s is not an integer of base %d' % [text, base];
    if !std.isString(text) then error 'an integer of base %d is read from a string, got %s' % [base, std.type(text)]
    else if text == '' then error 'an empty string is not an integer'
    else std.foldl(function(sum, char) base * sum + digit(char), text, 0),

  parseOctal(str):: natural(str, 8),
  parseHex(str):: natural(str, 16),

  // Booleans

  local both(name, x, y) =
    if !std.isBoolean(x) then wrong(name, 'first', 'boolean', x)
    else std.isBoolean(y) || wrong(name, 'second', 'boolean', y),

  xor(x, y):: both('xor', x, y) && x != y,
  xnor(x, y):: both('xnor', x, y) && x == y,

  // Strings

  mod(a, b)::
    if std.isNumber(a) && std.isNumber(b) then std.modulo(a, b)
    else if std.isString(a) then std.format(a, b)
    else error 'operator %% cannot be used on %s and %s' % [std.type(a), std.type(b)],

  isEmpty(str):: if std.isString(str) then str == '' else wrong('isEmpty', 'first', 'string', str),

  lines(arr):: std.join('\n', arr + ['']),

  startsWith(a, b)::
    std.length(a) >= std.length(b) && std.substr(a, 0, std.length(b)) == b,

  endsWith(a, b)::
    local skipped = std.length(a) - std.length(b);
    skipped >= 0 && std.substr(a, skipped, std.length(b)) == b,

  stringChars(str)::
    if std.isString(str) then std['$stringChars'](str)
    else std.makeArray(std.length(str), function(i) str[i]),

  local shifted(first, last, distance) = function(char)
    local code = std.codepoint(char);
    if code >= std.codepoint(first) && code <= std.codepoint(last) then std.char(code + distance) else char,

  asciiUpper(str)::
    if std.isString(str) then std['$asciiUpper'](str)
    else std.join('', std.map(shifted('a', 'z', -32), std.stringChars(str))),

  asciiLower(str)::
    if std.isString(str) then std['$asciiLower'](str)
    else std.join('', std.map(shifted('A', 'Z', 32), std.stringChars(str))),

  split(str, c)::
    if !std.isString(str) then wrong('split', 'first', 'string', str)
    else if !std.isString(c) then wrong('split', 'second', 'string', c)
    else std.splitLimit(str, c, -1),

  // Where `chars` is an array, any of its items may be stripped.
  local strip_left(str, chars) =
    if str != '' && std.member(chars, str[0]) then strip_left(str[1:], chars) tailstrict else str,
  local strip_right(str, chars) =
    if str != '' && std.member(chars, str[std.length(str) - 1]) then strip_right(str[:-1], chars) tailstrict else str,
  local stripped(name, str, chars, slowly) =
    if !std.isString(str) then wrong(name, 'first', 'string', str)
    else if std.isString(chars) then std['$' + name](str, chars)
    else slowly(str, chars),

  lstripChars(str, chars):: stripped('lstripChars', str, chars, strip_left),
  rstripChars(str, chars):: stripped('rstripChars', str, chars, strip_right),
  stripChars(str, chars)::
    stripped('stripChars', str, chars, function(str, chars) strip_right(strip_left(str, chars), chars)),

  resolvePath(f, r)::
    local parts = std.split(f, '/');
    std.join('/', parts[:std.length(parts) - 1] + [r]),

  repeat(what, count)::
    local empty =
      if std.isString(what) then ''
      else if std.isArray(what) then []
      else wrong('repeat', 'first', 'string or array', what);
    std.join(empty, std.makeArray(count, function(i) what)),

  deepJoin(arr)::
    if std.isString(arr) then arr
    else if std.isArray(arr) then std.join('', [std.deepJoin(item) for item in arr])
    else wrong('deepJoin', 'first', 'string or array', arr),

  // Arrays

  local items(indexable) = if std.isString(indexable) then std.stringChars(indexable) else indexable,
  local mapped(name, func, arr, call) =
    if !std.isFunction(func) then wrong(name, 'first', 'function', func)
    else if !std.isArray(arr) && !std.isString(arr) then wrong(name, 'second', 'array or string', arr)
    else
      local all = items(arr);
      std.makeArray(std.length(all), function(i) call(i, all[i])),

  map(func, arr):: mapped('map', func, arr, function(i, item) func(item)),
  mapWithIndex(func, arr):: mapped('mapWithIndex', func, arr, function(i, item) func(i, item)),

  filterMap(filter_func, map_func, arr)::
    if !std.isFunction(map_func) then wrong('filterMap', 'second', 'function', map_func)
    else std.map(map_func, std.filter(filter_func, arr)),

  // Adding is what counts: a string among the arrays makes all a string.
  flattenArrays(arrs)::
    if std.isArray(arrs) && std.all([std.isArray(arr) for arr in arrs]) then std.join([], arrs)
    else std.foldl(function(sum, arr) sum + arr, arrs, []),

  flattenDeepArray(value)::
    if std.isArray(value) then [inner for item in value for inner in std.flattenDeepArray(item)]
    else [value],

  uniq(arr, keyF=id)::
    if !std.isArray(arr) && !std.isString(arr) then wrong('uniq', 'first', 'array or string', arr)
    else
      local all = items(arr);
      [
        all[i]
        for i in std.range(0, std.length(all) - 1)
        if i == 0 || keyF(all[i - 1]) != keyF(all[i])
      ],

  // Sets

  set(arr, keyF=id):: std.uniq(std.sort(arr, keyF), keyF),

  setMember(x, arr, keyF=id):: std.length(std.setInter([x], arr, keyF)) > 0,

  setUnion(a, b, keyF=id)::
    local walk(i, j, found) =
      if i >= std.length(a) then found + b[j:]
      else if j >= std.length(b) then found + a[i:]
      else
        local left = keyF(a[i]), right = keyF(b[j]);
        if left == right then walk(i + 1, j + 1, found + [a[i]]) tailstrict
        else if left < right then walk(i + 1, j, found + [a[i]]) tailstrict
        else walk(i, j + 1, found + [b[j]]) tailstrict;
    walk(0, 0, []),

  setInter(a, b, keyF=id)::
    local walk(a, b, i, j, found) =
      if i >= std.length(a) || j >= std.length(b) then found
      else
        local left = keyF(a[i]), right = keyF(b[j]);
        if left == right then walk(a, b, i + 1, j + 1, found + [a[i]]) tailstrict
        else if left < right then walk(a, b, i + 1, j, found) tailstrict
        else walk(a, b, i, j + 1, found) tailstrict;
    walk(a, b, 0, 0, []) tailstrict,

  setDiff(a, b, keyF=id)::
    local walk(a, b, i, j, found) =
      if i >= std.length(a) then found
      else if j >= std.length(b) then found + a[i:]
      else
        local left = keyF(a[i]), right = keyF(b[j]);
        if left == right then walk(a, b, i + 1, j + 1, found) tailstrict
        else if left < right then walk(a, b, i + 1, j, found + [a[i]]) tailstrict
        else walk(a, b, i, j + 1, found) tailstrict;
    walk(a, b, 0, 0, []) tailstrict,

  __compare_array(arr1, arr2)::
    local shorter = std.min(std.length(arr1), std.length(arr2));
    local walk(i) =
      if i >= shorter then std.__compare(std.length(arr1), std.length(arr2))
      else
        local order = std.__compare(arr1[i], arr2[i]);
        if order == 0 then walk(i + 1) tailstrict else order;
    walk(0),

  __array_less(arr1, arr2):: std.__compare_array(arr1, arr2) < 0,
  __array_less_or_equal(arr1, arr2):: std.__compare_array(arr1, arr2) <= 0,
  __array_greater(arr1, arr2):: std.__compare_array(arr1, arr2) > 0,
  __array_greater_or_equal(arr1, arr2):: std.__compare_array(arr1, arr2) >= 0,

  // Objects

  get(o, f, default=null, inc_hidden=true):: if std.objectHasEx(o, f, inc_hidden) then o[f] else default,

  objectHas(o, f):: std.objectHasEx(o, f, false),
  objectHasAll(o, f):: std.objectHasEx(o, f, true),

  objectFields(o):: std.objectFieldsEx(o, false),
  objectFieldsAll(o):: std.objectFieldsEx(o, true),

  objectValues(o):: [o[key] for key in std.objectFields(o)],
  objectValuesAll(o):: [o[key] for key in std.objectFieldsAll(o)],

  objectKeysValues(o):: [{ key: key, value: o[key] } for key in std.objectFields(o)],
  objectKeysValuesAll(o):: [{ key: key, value: o[key] } for key in std.objectFieldsAll(o)],

  mapWithKey(func, obj)::
    if !std.isFunction(func) then wrong('mapWithKey', 'first', 'function', func)
    else if !std.isObject(obj) then wrong('mapWithKey', 'second', 'object', obj)
    else { [key]: func(key, obj[key]) for key in std.objectFields(obj) },

  prune(a)::
    local has_content(value) =
      if std.isArray(value) || std.isObject(value) then std.length(value) > 0 else value != null;
    if std.isArray(a) then
      [pruned for item in a for pruned in [std.prune(item)] if has_content(pruned)]
    else if std.isObject(a) then
      { [key]: pruned for key in std.objectFields(a) for pruned in [std.prune(a[key])] if has_content(pruned) }
    else a,

  mergePatch(target, patch)::
    if !std.isObject(patch) then patch
    else
      local old = if std.isObject(target) then target else {};
      local removed(key) = std.objectHas(patch, key) && patch[key] == null;
      {
        [key]:
          if !std.objectHas(patch, key) then old[key]
          else if !std.objectHas(old, key) then std.mergePatch(null, patch[key]) tailstrict
          else std.mergePatch(old[key], patch[key]) tailstrict
        for key in std.setUnion(std.objectFields(old), std.objectFields(patch))
        if !removed(key)
      },

  // Texts in other formats

  manifestJson(value):: std.manifestJsonEx(value, '    '),
  manifestJsonMinified(value):: std.manifestJsonEx(value, '', '', ':'),
  manifestToml(value):: std.manifestTomlEx(value, '  '),

  manifestYamlStream(value, indent_array_in_object=false, c_document_end=true, quote_keys=true)::
    if !std.isArray(value) then wrong('manifestYamlStream', 'first', 'array', value)
    else
      local documents = [std.manifestYamlDoc(item, indent_array_in_object, quote_keys) for item in value];
      '---\n' + std.join('\n---\n', documents) + (if c_document_end then '\n...\n' else '\n'),

  manifestIni(ini)::
    local entries(section) = [
      '%s = %s' % [key, value]
      for key in std.objectFields(section)
      for value in (if std.isArray(section[key]) then section[key] else [section[key]])
    ];
    std.lines(
      (if std.objectHas(ini, 'main') then entries(ini.main) else [])
      + std.flattenArrays([['[' + name + ']'] + entries(ini.sections[name]) for name in std.objectFields(ini.sections)])
    ),

  manifestXmlJsonml(value)::
    local attribute(attributes, name) = ' %s="%s"' % [name, attributes[name]];
    local element(item) =
      if std.isString(item) then item
      else
        local tag = item[0];
        local has_attributes = std.length(item) > 1 && std.isObject(item[1]);
        local attributes = if has_attributes then item[1] else {};
        local children = item[(if has_attributes then 2 else 1):];
        std.deepJoin([
          ['<', tag, [attribute(attributes, name) for name in std.objectFields(attributes)], '>'],
          [element(child) for child in children],
          ['</', tag, '>'],
        ]);
    if std.isArray(value) then element(value) else wrong('manifestXmlJsonml', 'first', 'array', value),
}
