//! How much room Go leaves behind the elements of a slice, which shows when a slice is cut.

/// The largest sizes of Go's classes of small objects.
///
/// Reference: Go 1.26 internal/runtime/gc/sizeclasses.go.
const CLASSES: [usize; 67] = [
    8, 16, 24, 32, 48, 64, 80, 96, 112, 128, 144, 160, 176, 192, 208, 224, 240, 256, 288, 320, 352, 384, 416, 448, 480,
    512, 576, 640, 704, 768, 896, 1024, 1152, 1280, 1408, 1536, 1792, 2048, 2304, 2688, 3072, 3200, 3456, 4096, 4864,
    5376, 6144, 6528, 6784, 6912, 8192, 9472, 9728, 10240, 10880, 12288, 13568, 14336, 16384, 18432, 19072, 20480,
    21760, 24576, 27264, 28672, 32768,
];

/// What precedes an object with pointers that is larger than [`HEADLESS_MAX`].
const HEADER: usize = 8;
const HEADLESS_MAX: usize = 512;
const SMALL_MAX: usize = 32768;
const PAGE: usize = 8192;

/// What an element is to Go's allocator, on a machine of 64 bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Layout {
    /// In bytes.
    pub size: usize,
    /// Whether there are pointers in it.
    pub has_pointers: bool,
}

impl Layout {
    /// `int`
    pub const INT: Self = Self { size: 8, has_pointers: false };
    /// `map[K]V`
    pub const MAP: Self = Self { size: 8, has_pointers: true };
    /// `string`, `interface {}`
    pub const PAIR: Self = Self { size: 16, has_pointers: true };
    /// `[]T`
    pub const SLICE: Self = Self { size: 24, has_pointers: true };

    /// The capacity of a slice that grows to `len` elements at once, having `capacity` before.
    ///
    /// Reference: Go 1.26 runtime/slice.go `growslice`, `nextslicecap`.
    pub fn grown(self, capacity: usize, len: usize) -> usize {
        if len <= capacity {
            return capacity;
        }
        let mut wanted = capacity.saturating_mul(2);
        if len > wanted {
            wanted = len;
        } else if capacity >= SLOWER {
            wanted = capacity;
            while wanted < len {
                wanted += (wanted + 3 * SLOWER) / 4;
            }
        }
        self.rounded(wanted.saturating_mul(self.size)) / self.size.max(1)
    }

    /// The capacity of a slice to which `len` elements were appended one by one, having `capacity` before the first.
    pub fn appended(self, mut capacity: usize, len: usize) -> usize {
        while capacity < len {
            capacity = self.grown(capacity, capacity + 1);
        }
        capacity
    }

    /// Reference: Go 1.26 runtime/msize.go `roundupsize`.
    fn rounded(self, bytes: usize) -> usize {
        let header = if self.has_pointers && bytes > HEADLESS_MAX { HEADER } else { 0 };
        let is_class = |class: &&usize| **class >= bytes + header;
        match CLASSES.iter().find(is_class) {
            Some(class) if bytes <= SMALL_MAX - HEADER => class - header,
            _ => bytes.next_multiple_of(PAGE),
        }
    }
}

/// From this capacity on slices grow by less than their double.
const SLOWER: usize = 256;

#[cfg(test)]
mod tests {
    use super::*;

    /// The capacities that a slice goes through while elements are appended, as Go 1.26.5 printed them.
    #[test]
    fn slices_grow_as_in_go() {
        let rows: [(&str, Layout, usize, &[usize]); 5] = [
            (
                "[]interface {}",
                Layout::PAIR,
                1,
                &[
                    2, 4, 8, 16, 32, 71, 143, 303, 591, 1023, 1535, 2560, 3584, 5120, 6656, 8704, 11264, 14336, 18432,
                    23552, 29696, 37376, 47104,
                ],
            ),
            ("[]string of 10", Layout::PAIR, 10, &[20, 43, 87, 191, 383, 679, 1151, 1703, 2560]),
            ("[]int", Layout::INT, 4, &[8, 16, 32, 64, 128, 256, 512, 848, 1280, 1792, 2560, 3408, 5120, 7168, 9216]),
            ("[]map", Layout::MAP, 4, &[8, 16, 32, 64, 143, 287, 607, 1023, 1535, 2303, 3071, 4095, 6144, 8192, 11264]),
            ("[]interface {} from nothing", Layout::PAIR, 0, &[1, 2, 4]),
        ];
        for (name, layout, start, expected) in rows {
            let next = |capacity: &usize| Some(layout.appended(*capacity, capacity + 1));
            let found: Vec<usize> = std::iter::successors(next(&start), next).take(expected.len()).collect();
            assert_eq!(found, expected, "{name}");
        }
    }

    /// `append(make([]interface {}, N), 1)`
    #[test]
    fn a_full_slice_makes_room_for_one_more() {
        let expected = [1, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30, 32, 35, 39, 39, 43, 43, 47, 47, 55];
        let found: Vec<usize> = (0..expected.len()).map(|len| Layout::PAIR.grown(len, len + 1)).collect();
        assert_eq!(found, expected);
    }
}
