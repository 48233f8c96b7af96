use std::rc::Rc;

use super::super::{ArrayData, ObjectData, ThunkData, ValueData};
use super::manifest::ManifestJsonFormat;
use super::{EvalError, EvalErrorKind, EvalErrorValueType, EvalResult, Evaluator, State};
use crate::float;
use crate::gc::GcView;

pub(super) enum FormatPart {
    Literal(String),
    Code(FormatCode),
}

pub(super) struct FormatCode {
    mkey: Option<String>,
    cflags: CFlags,
    fw: Option<FieldWidth>,
    prec: Option<FieldWidth>,
    _len_mod: Option<LenMod>,
    ctype: ConvType,
}

impl FormatCode {
    fn uses_prec(&self) -> bool {
        match self.ctype {
            ConvType::Decimal
            | ConvType::Octal
            | ConvType::HexLower
            | ConvType::HexUpper
            | ConvType::ExpLower
            | ConvType::ExpUpper
            | ConvType::FloatLower
            | ConvType::FloatUpper
            | ConvType::FloatGLower
            | ConvType::FloatGUpper => true,
            ConvType::Char | ConvType::String | ConvType::Percent => false,
        }
    }
}

#[derive(Default)]
struct CFlags {
    alt: bool,
    zero: bool,
    left: bool,
    blank: bool,
    plus: bool,
}

enum LenMod {
    H,
    LowerL,
    UpperL,
}

#[derive(PartialEq, Eq)]
enum ConvType {
    Decimal,
    Octal,
    HexLower,
    HexUpper,
    ExpLower,
    ExpUpper,
    FloatLower,
    FloatUpper,
    FloatGLower,
    FloatGUpper,
    Char,
    String,
    Percent,
}

enum FieldWidth {
    Inline(f64),
    External,
}

impl<'p> Evaluator<'_, 'p> {
    pub(super) fn do_std_format(&mut self) -> EvalResult<()> {
        let vals = self.value_stack.pop().unwrap();
        let fmt = self.value_stack.pop().unwrap();

        let fmt = match fmt {
            // As good as an empty string.
            ValueData::Array(array) if array.view().is_empty() => "".into(),
            ValueData::Object(object) if object.view().get_visible_fields_order().count() == 0 => {
                "".into()
            }
            fmt => self.expect_std_func_arg_string(fmt, "format", 0)?,
        };
        let fmt_parts = self.parse_format_codes(&fmt)?;

        match vals {
            ValueData::Array(array) => {
                self.want_format_array(fmt_parts, array.view());
            }
            ValueData::Object(object) => {
                self.want_format_object(fmt_parts, object.view());
            }
            val => {
                let val = self.program.gc_alloc(ThunkData::new_done(val));
                let array: GcView<Box<[_]>> = self.program.gc_alloc_view(Box::new([val]));

                self.want_format_array(fmt_parts, array);
            }
        }

        Ok(())
    }

    pub(super) fn parse_format_codes(&mut self, fmt: &str) -> EvalResult<Vec<FormatPart>> {
        let mut parts = Vec::new();
        let mut rem = fmt;
        while !rem.is_empty() {
            let Some(i) = rem.find('%') else {
                parts.push(FormatPart::Literal(rem.into()));
                break;
            };
            if i > 0 {
                parts.push(FormatPart::Literal(rem[..i].into()));
            }
            rem = &rem[(i + 1)..];
            let mkey = self.parse_format_mkey(&mut rem)?;
            let cflags = self.parse_format_cflags(&mut rem)?;
            let fw = self.parse_format_field_width(&mut rem);
            let prec = self.parse_format_prec(&mut rem);
            let len_mod = self.parse_format_length_modifier(&mut rem)?;
            let conv_type = self.parse_format_conv_type(&mut rem)?;
            parts.push(FormatPart::Code(FormatCode {
                mkey,
                cflags,
                fw,
                prec,
                _len_mod: len_mod,
                ctype: conv_type,
            }));
        }
        Ok(parts)
    }

    fn parse_format_mkey(&mut self, rem: &mut &str) -> EvalResult<Option<String>> {
        if let Some(rem_cont) = rem.strip_prefix('(') {
            let Some(end) = rem_cont.find(')') else {
                return Err(self.report_error(EvalErrorKind::Other {
                    span: None,
                    message: "truncated format code".into(),
                }));
            };
            *rem = &rem_cont[(end + 1)..];
            Ok(Some(rem_cont[..end].into()))
        } else {
            Ok(None)
        }
    }

    fn parse_format_cflags(&mut self, rem: &mut &str) -> Result<CFlags, EvalError> {
        let mut cflags = CFlags {
            alt: false,
            zero: false,
            left: false,
            blank: false,
            plus: false,
        };
        loop {
            if let Some(rem_cont) = rem.strip_prefix('#') {
                cflags.alt = true;
                *rem = rem_cont;
            } else if let Some(rem_cont) = rem.strip_prefix('0') {
                cflags.zero = true;
                *rem = rem_cont;
            } else if let Some(rem_cont) = rem.strip_prefix('-') {
                cflags.left = true;
                *rem = rem_cont;
            } else if let Some(rem_cont) = rem.strip_prefix(' ') {
                cflags.blank = true;
                *rem = rem_cont;
            } else if let Some(rem_cont) = rem.strip_prefix('+') {
                cflags.plus = true;
                *rem = rem_cont;
            } else {
                break;
            }
        }
        Ok(cflags)
    }

    fn parse_format_field_width(&mut self, rem: &mut &str) -> Option<FieldWidth> {
        if let Some(rem_cont) = rem.strip_prefix('*') {
            *rem = rem_cont;
            return Some(FieldWidth::External);
        }
        let width = take_number(rem)?;
        Some(FieldWidth::Inline(width))
    }

    /// A point without digits after it is one with 0.
    fn parse_format_prec(&mut self, rem: &mut &str) -> Option<FieldWidth> {
        *rem = rem.strip_prefix('.')?;
        let width = self.parse_format_field_width(rem);
        Some(width.unwrap_or(FieldWidth::Inline(0.0)))
    }

    fn parse_format_length_modifier(&mut self, rem: &mut &str) -> EvalResult<Option<LenMod>> {
        if let Some(rem_cont) = rem.strip_prefix('h') {
            *rem = rem_cont;
            Ok(Some(LenMod::H))
        } else if let Some(rem_cont) = rem.strip_prefix('l') {
            *rem = rem_cont;
            Ok(Some(LenMod::LowerL))
        } else if let Some(rem_cont) = rem.strip_prefix('L') {
            *rem = rem_cont;
            Ok(Some(LenMod::UpperL))
        } else {
            Ok(None)
        }
    }

    fn parse_format_conv_type(&mut self, rem: &mut &str) -> EvalResult<ConvType> {
        let conv_type = match rem.chars().next() {
            None => {
                return Err(self.report_error(EvalErrorKind::Other {
                    span: None,
                    message: "truncated format code".into(),
                }));
            }
            Some('d' | 'i' | 'u') => ConvType::Decimal,
            Some('o') => ConvType::Octal,
            Some('x') => ConvType::HexLower,
            Some('X') => ConvType::HexUpper,
            Some('e') => ConvType::ExpLower,
            Some('E') => ConvType::ExpUpper,
            Some('f') => ConvType::FloatLower,
            Some('F') => ConvType::FloatUpper,
            Some('g') => ConvType::FloatGLower,
            Some('G') => ConvType::FloatGUpper,
            Some('c') => ConvType::Char,
            Some('s') => ConvType::String,
            Some('%') => ConvType::Percent,
            Some(chr) => {
                return Err(self.report_error(EvalErrorKind::Other {
                    span: None,
                    message: format!("invalid format conversion code {chr:?}"),
                }));
            }
        };
        *rem = &rem[1..];
        Ok(conv_type)
    }

    pub(super) fn want_format_array(
        &mut self,
        parts: Vec<FormatPart>,
        array: GcView<ArrayData<'p>>,
    ) {
        self.string_stack.push(String::new());
        self.state_stack.push(State::StdFormatCodesArray1 {
            parts: Rc::new(parts),
            array,
            part_i: 0,
            array_i: 0,
        });
    }

    pub(super) fn want_format_object(
        &mut self,
        parts: Vec<FormatPart>,
        object: GcView<ObjectData<'p>>,
    ) {
        self.string_stack.push(String::new());
        self.state_stack.push(State::StdFormatCodesObject1 {
            parts: Rc::new(parts),
            object,
            part_i: 0,
        });
    }

    pub(super) fn do_std_format_codes_array_1(
        &mut self,
        parts: Rc<Vec<FormatPart>>,
        array: GcView<ArrayData<'p>>,
        part_i: usize,
        mut array_i: usize,
    ) -> EvalResult<()> {
        if part_i >= parts.len() {
            if array_i < array.len() {
                return Err(self.report_error(EvalErrorKind::Other {
                    span: None,
                    message: format!(
                        "too many array items for format: expected {array_i}, got {}",
                        array.len(),
                    ),
                }));
            } else {
                let s = self.string_stack.pop().unwrap();
                self.value_stack.push(ValueData::String(s.into()));
                return Ok(());
            }
        }

        let result = self.string_stack.last_mut().unwrap();
        match parts[part_i] {
            FormatPart::Literal(ref s) => {
                result.push_str(s);
                self.state_stack.push(State::StdFormatCodesArray1 {
                    parts,
                    array,
                    part_i: part_i + 1,
                    array_i,
                });
                Ok(())
            }
            FormatPart::Code(ref code) => {
                let fw = match code.fw {
                    None | Some(FieldWidth::Inline(_)) => None,
                    Some(FieldWidth::External) => {
                        if array_i >= array.len() {
                            return Err(self.report_error(EvalErrorKind::Other {
                                span: None,
                                message: format!(
                                    "not enough array items for format, got {}",
                                    array.len(),
                                ),
                            }));
                        }
                        let thunk = array[array_i].view();
                        array_i += 1;
                        Some(thunk)
                    }
                };
                let prec = match code.prec {
                    None | Some(FieldWidth::Inline(_)) => None,
                    Some(FieldWidth::External) if !code.uses_prec() => {
                        array_i += 1;
                        None
                    }
                    Some(FieldWidth::External) => {
                        if array_i >= array.len() {
                            return Err(self.report_error(EvalErrorKind::Other {
                                span: None,
                                message: format!(
                                    "not enough array items for format, got {}",
                                    array.len(),
                                ),
                            }));
                        }
                        let thunk = array[array_i].view();
                        array_i += 1;
                        Some(thunk)
                    }
                };

                self.state_stack.push(State::StdFormatCodesArray2 {
                    parts: parts.clone(),
                    array,
                    part_i,
                    array_i,
                });

                if let (Some(thunk), true) = (prec, code.uses_prec()) {
                    self.state_stack.push(State::DoThunk(thunk));
                }
                if let Some(thunk) = fw {
                    self.state_stack.push(State::DoThunk(thunk));
                }

                Ok(())
            }
        }
    }

    pub(super) fn do_std_format_codes_array_2(
        &mut self,
        parts: Rc<Vec<FormatPart>>,
        array: GcView<ArrayData<'p>>,
        part_i: usize,
        mut array_i: usize,
    ) -> EvalResult<()> {
        let FormatPart::Code(ref code) = parts[part_i] else {
            unreachable!();
        };

        let prec = match code.prec {
            None => None,
            Some(FieldWidth::Inline(prec)) => Some(prec),
            Some(FieldWidth::External) if !code.uses_prec() => None,
            Some(FieldWidth::External) => match self.value_stack.pop().unwrap() {
                ValueData::Number(prec) => Some(prec),
                // As if there were none.
                ValueData::Null => None,
                prec => {
                    return Err(self.report_error(EvalErrorKind::Other {
                        span: None,
                        message: format!(
                            "format precision must be a number, got {}",
                            EvalErrorValueType::from_value(&prec).to_str(),
                        ),
                    }));
                }
            },
        };

        let fw = match code.fw {
            None => 0.0,
            Some(FieldWidth::Inline(fw)) => fw,
            Some(FieldWidth::External) => {
                let fw = self.value_stack.pop().unwrap();
                let ValueData::Number(fw) = fw else {
                    return Err(self.report_error(EvalErrorKind::Other {
                        span: None,
                        message: format!(
                            "format field width must be a number, got {}",
                            EvalErrorValueType::from_value(&fw).to_str(),
                        ),
                    }));
                };
                fw
            }
        };
        let item = if code.ctype == ConvType::Percent {
            None
        } else {
            if array_i >= array.len() {
                return Err(self.report_error(EvalErrorKind::Other {
                    span: None,
                    message: format!("not enough array items for format, got {}", array.len()),
                }));
            }
            let item = array[array_i].view();
            array_i += 1;
            Some(item)
        };

        self.state_stack.push(State::StdFormatCodesArray3 {
            parts: parts.clone(),
            array,
            part_i,
            array_i,
            fw,
        });

        if code.ctype == ConvType::Percent {
            self.string_stack.push("%".into());
        } else {
            self.state_stack.push(State::StdFormatCode {
                parts,
                part_i,
                fw,
                prec,
            });
            self.state_stack.push(State::DoThunk(item.unwrap()));
        }

        Ok(())
    }

    pub(super) fn do_std_format_codes_array_3(
        &mut self,
        parts: Rc<Vec<FormatPart>>,
        array: GcView<ArrayData<'p>>,
        part_i: usize,
        array_i: usize,
        fw: f64,
    ) -> Result<(), EvalError> {
        let FormatPart::Code(ref code) = parts[part_i] else {
            unreachable!();
        };

        let s = self.string_stack.pop().unwrap();
        let result = self.string_stack.last_mut().unwrap();

        let Some(padding) = padding(fw - s.chars().count() as f64, ' ') else {
            return Err(*self.report_error(EvalErrorKind::StackOverflow));
        };
        if code.cflags.left {
            result.push_str(&s);
            result.push_str(&padding);
        } else {
            result.push_str(&padding);
            result.push_str(&s);
        }

        self.state_stack.push(State::StdFormatCodesArray1 {
            parts,
            array,
            part_i: part_i + 1,
            array_i,
        });
        Ok(())
    }

    pub(super) fn do_std_format_codes_object_1(
        &mut self,
        parts: Rc<Vec<FormatPart>>,
        object: GcView<ObjectData<'p>>,
        part_i: usize,
    ) -> EvalResult<()> {
        if part_i >= parts.len() {
            let s = self.string_stack.pop().unwrap();
            self.value_stack.push(ValueData::String(s.into()));
            return Ok(());
        }

        let result = self.string_stack.last_mut().unwrap();
        match parts[part_i] {
            FormatPart::Literal(ref s) => {
                result.push_str(s);
                self.state_stack.push(State::StdFormatCodesObject1 {
                    parts,
                    object,
                    part_i: part_i + 1,
                });
                Ok(())
            }
            FormatPart::Code(ref code) => {
                let fw = match code.fw {
                    None => 0.0,
                    Some(FieldWidth::Inline(v)) => v,
                    Some(FieldWidth::External) => {
                        return Err(self.report_error(EvalErrorKind::Other {
                            span: None,
                            message: "'*' field width cannot be used with object formatting".into(),
                        }));
                    }
                };
                let prec = match code.prec {
                    None => None,
                    Some(FieldWidth::Inline(v)) => Some(v),
                    Some(FieldWidth::External) if !code.uses_prec() => None,
                    Some(FieldWidth::External) => {
                        return Err(self.report_error(EvalErrorKind::Other {
                            span: None,
                            message: "'*' precision cannot be used with object formatting".into(),
                        }));
                    }
                };

                let item = if code.ctype == ConvType::Percent {
                    None
                } else {
                    let Some(ref mkey) = code.mkey else {
                        return Err(self.report_error(EvalErrorKind::Other {
                            span: None,
                            message: "mapping keys are required with object formatting".into(),
                        }));
                    };
                    let field_name = self.program.str_interner.get_interned(mkey);
                    if let Some(field_thunk) = field_name.and_then(|field_name| {
                        self.program.find_object_field_thunk(&object, 0, field_name)
                    }) {
                        Some(field_thunk)
                    } else {
                        return Err(self.report_error(EvalErrorKind::Other {
                            span: None,
                            message: format!("missing field {mkey:?} in object formatting"),
                        }));
                    }
                };

                self.state_stack.push(State::StdFormatCodesObject2 {
                    parts: parts.clone(),
                    object: object.clone(),
                    part_i,
                    fw,
                });

                if code.ctype == ConvType::Percent {
                    self.string_stack.push("%".into());
                } else {
                    self.state_stack.push(State::StdFormatCode {
                        parts,
                        part_i,
                        fw,
                        prec,
                    });
                    self.state_stack.push(State::DoThunk(item.unwrap()));
                    self.check_object_asserts(&object);
                }

                Ok(())
            }
        }
    }

    pub(super) fn do_std_format_codes_object_2(
        &mut self,
        parts: Rc<Vec<FormatPart>>,
        object: GcView<ObjectData<'p>>,
        part_i: usize,
        fw: f64,
    ) -> Result<(), EvalError> {
        let FormatPart::Code(ref code) = parts[part_i] else {
            unreachable!();
        };

        let s = self.string_stack.pop().unwrap();
        let result = self.string_stack.last_mut().unwrap();

        let Some(padding) = padding(fw - s.chars().count() as f64, ' ') else {
            return Err(*self.report_error(EvalErrorKind::StackOverflow));
        };
        if code.cflags.left {
            result.push_str(&s);
            result.push_str(&padding);
        } else {
            result.push_str(&padding);
            result.push_str(&s);
        }

        self.state_stack.push(State::StdFormatCodesObject1 {
            parts,
            object,
            part_i: part_i + 1,
        });
        Ok(())
    }

    pub(super) fn do_std_format_code(
        &mut self,
        parts: &[FormatPart],
        part_i: usize,
        fw: f64,
        prec: Option<f64>,
    ) -> EvalResult<()> {
        let FormatPart::Code(ref code) = parts[part_i] else {
            unreachable!();
        };

        let value = self.value_stack.pop().unwrap();
        match code.ctype {
            ConvType::Char | ConvType::String | ConvType::Percent => {}
            _ => {
                let ValueData::Number(value) = value else {
                    return Err(self.report_error(EvalErrorKind::Other {
                        span: None,
                        message: format!(
                            "formatting requires a number, got {}",
                            EvalErrorValueType::from_value(&value).to_str(),
                        ),
                    }));
                };
                let s = render_number(code, value, fw, prec).ok_or_else(|| {
                    self.report_error(EvalErrorKind::NumberOverflow { span: None })
                })?;
                self.string_stack.push(s);
                return Ok(());
            }
        }
        match code.ctype {
            ConvType::Char => match value {
                ValueData::String(s) => {
                    if s.chars().count() != 1 {
                        return Err(self.report_error(EvalErrorKind::Other {
                            span: None,
                            message: format!(
                                "'c' formatting requires a string of length 1, got {}",
                                s.chars().count(),
                            ),
                        }));
                    }
                    self.string_stack.push((*s).into());
                }
                ValueData::Number(n) => {
                    let chr = self.char_from_number(n)?;
                    self.string_stack.push(chr.into());
                }
                _ => {
                    return Err(self.report_error(EvalErrorKind::Other {
                        span: None,
                        message: format!(
                            "'c' formatting requires a string or a number, got {}",
                            EvalErrorValueType::from_value(&value).to_str(),
                        ),
                    }));
                }
            },
            ConvType::String => {
                if let ValueData::String(s) = value {
                    self.string_stack.push((*s).into());
                } else {
                    self.state_stack.push(State::ManifestJson {
                        format: ManifestJsonFormat::default_to_string(),
                        depth: 0,
                    });
                    self.value_stack.push(value);
                    self.string_stack.push(String::new());
                }
            }
            _ => unreachable!(),
        }

        Ok(())
    }
}

/// Takes the digits that a format begins with.
fn take_number(rem: &mut &str) -> Option<f64> {
    let digits = rem.bytes().take_while(u8::is_ascii_digit).count();
    let (number, after) = rem.split_at(digits);
    *rem = after;
    (digits > 0).then(|| {
        number
            .bytes()
            .fold(0.0, |sum, b| sum * 10.0 + f64::from(b - b'0'))
    })
}

// What follows computes with floats all the way, as the standard library of Jsonnet does, so it is exact in its rounding
// errors: `%.0f` of 2.5 is 3, `%e` of 1000 is 10.000000e+02. `None` is a number or a width out of range.

fn finite(x: f64) -> Option<f64> {
    x.is_finite().then_some(x)
}

/// As many as `width`, rounded up. The standard library of Jsonnet recurses for each character, so more than this many are
/// too deep in go-jsonnet, even where nothing else is on the stack.
const SPACES_MAX: f64 = 244.0;
const ZEROS_MAX: f64 = 239.0;

fn padding(width: f64, chr: char) -> Option<String> {
    let max = if chr == '0' { ZEROS_MAX } else { SPACES_MAX };
    (width <= max).then(|| std::iter::repeat_n(chr, width.ceil() as usize).collect())
}

fn render_number(code: &FormatCode, value: f64, fw: f64, prec: Option<f64>) -> Option<String> {
    let flags = &code.cflags;
    let zero_pad = if flags.zero && !flags.left { fw } else { 0.0 };
    let min_digits = prec.unwrap_or(0.0);
    let prec = prec.unwrap_or(6.0);
    match code.ctype {
        ConvType::Decimal => render_int(
            value <= -1.0,
            value.abs().floor(),
            zero_pad,
            min_digits,
            flags,
            10.0,
            "",
        ),
        ConvType::Octal => {
            let prefix = if flags.alt { "0" } else { "" };
            render_int(
                value <= -1.0,
                value.abs().floor(),
                zero_pad,
                min_digits,
                flags,
                8.0,
                prefix,
            )
        }
        ConvType::HexLower => render_hex(value.floor(), zero_pad, min_digits, flags, false),
        ConvType::HexUpper => render_hex(value.floor(), zero_pad, min_digits, flags, true),
        ConvType::FloatLower | ConvType::FloatUpper => {
            render_float(value, zero_pad, flags, true, prec)
        }
        ConvType::ExpLower => render_scientific(value, zero_pad, flags, true, 'e', prec),
        ConvType::ExpUpper => render_scientific(value, zero_pad, flags, true, 'E', prec),
        ConvType::FloatGLower | ConvType::FloatGUpper => {
            let exponent = decimal_exponent(value);
            if exponent < -4.0 || exponent >= prec {
                let e = if code.ctype == ConvType::FloatGUpper {
                    'E'
                } else {
                    'e'
                };
                render_scientific(value, zero_pad, flags, flags.alt, e, prec - 1.0)
            } else {
                render_float(
                    value,
                    zero_pad,
                    flags,
                    flags.alt,
                    prec - (exponent + 1.0).max(1.0),
                )
            }
        }
        ConvType::Char | ConvType::String | ConvType::Percent => unreachable!(),
    }
}

fn decimal_exponent(value: f64) -> f64 {
    if value == 0.0 {
        0.0
    } else {
        (float::log(value.abs()) / float::log(10.0)).floor()
    }
}

fn sign(is_negative: bool, flags: &CFlags) -> &'static str {
    match flags {
        _ if is_negative => "-",
        CFlags { plus: true, .. } => "+",
        CFlags { blank: true, .. } => " ",
        _ => "",
    }
}

/// The digits of a magnitude. One that is no integer leaves its fraction among them.
fn digits(magnitude: f64, radix: f64, digit: impl Fn(f64) -> String) -> String {
    let mut digits = Vec::new();
    let mut rest = magnitude;
    while rest != 0.0 {
        digits.push(digit(rest % radix));
        rest = (rest / radix).floor();
    }
    digits.reverse();
    digits.concat()
}

fn render_int(
    is_negative: bool,
    magnitude: f64,
    min_chars: f64,
    min_digits: f64,
    flags: &CFlags,
    radix: f64,
    zero_prefix: &str,
) -> Option<String> {
    let digit = |digit: f64| {
        let mut text = String::new();
        float::push_text(digit, &mut text);
        text
    };
    let digits = match magnitude {
        0.0 => "0".to_owned(),
        _ => zero_prefix.to_owned() + &digits(magnitude, radix, digit),
    };
    let is_signed = is_negative || flags.blank || flags.plus;
    let width = (min_chars - f64::from(u8::from(is_signed))).max(min_digits);
    let zeros = padding(width - digits.len() as f64, '0')?;
    Some(format!("{}{zeros}{digits}", sign(is_negative, flags)))
}

fn render_hex(
    value: f64,
    min_chars: f64,
    min_digits: f64,
    flags: &CFlags,
    is_upper: bool,
) -> Option<String> {
    let digit = |digit: f64| {
        let digit = digit as u8;
        if is_upper {
            format!("{digit:X}")
        } else {
            format!("{digit:x}")
        }
    };
    let digits = match value.abs() {
        0.0 => "0".to_owned(),
        magnitude => digits(magnitude, 16.0, digit),
    };
    let is_negative = value < 0.0;
    let is_signed = is_negative || flags.blank || flags.plus;
    let prefix = match (flags.alt, is_upper) {
        (false, _) => "",
        (true, false) => "0x",
        (true, true) => "0X",
    };
    let width = (min_chars - f64::from(u8::from(is_signed)) - prefix.len() as f64).max(min_digits);
    let zeros = padding(width - digits.len() as f64, '0')?;
    Some(format!(
        "{}{prefix}{zeros}{digits}",
        sign(is_negative, flags)
    ))
}

/// `trailing`: whether zeros at the end stay.
fn render_float(
    value: f64,
    zero_pad: f64,
    flags: &CFlags,
    trailing: bool,
    prec: f64,
) -> Option<String> {
    let denominator = finite(float::pow(10.0, prec))?;
    if denominator == 0.0 {
        return None;
    }
    let numerator = finite(finite(value.abs() * denominator)? + 0.5)?;
    let whole = if value == 0.0 {
        0.0
    } else {
        finite(numerator / denominator)?.floor()
    };
    let fraction = numerator.floor() % denominator;
    let point = if prec == 0.0 && !flags.alt { 0.0 } else { 1.0 };
    let mut text = render_int(
        value < 0.0,
        whole,
        zero_pad - prec - point,
        0.0,
        flags,
        10.0,
        "",
    )?;
    if prec == 0.0 {
        text.push_str(if flags.alt { "." } else { "" });
    } else if trailing || fraction > 0.0 {
        let fraction = render_int(false, fraction, prec, 0.0, &CFlags::default(), 10.0, "")?;
        text.push('.');
        text.push_str(if trailing {
            &fraction
        } else {
            fraction.trim_end_matches('0')
        });
    }
    Some(text)
}

fn render_scientific(
    value: f64,
    zero_pad: f64,
    flags: &CFlags,
    trailing: bool,
    e: char,
    prec: f64,
) -> Option<String> {
    let exponent = decimal_exponent(value);
    let plus = CFlags {
        plus: true,
        ..CFlags::default()
    };
    let suffix = format!(
        "{e}{}",
        render_int(exponent < 0.0, exponent.abs(), 3.0, 0.0, &plus, 10.0, "")?
    );
    let mantissa = if exponent == -324.0 {
        // 10^-324 is 0.
        finite(value * 10.0)? / float::pow(10.0, exponent + 1.0)
    } else {
        value / float::pow(10.0, exponent)
    };
    let mantissa = finite(mantissa)?;
    let text = render_float(
        mantissa,
        zero_pad - suffix.len() as f64,
        flags,
        trailing,
        prec,
    )?;
    Some(text + &suffix)
}
