//! Memory buffers.

use super::ffi::BufferRef;
use super::llvm;

/// Bytes owned by LLVM.
pub(super) struct Buffer {
    pub(super) raw: BufferRef,
}

impl Buffer {
    pub(super) fn copy(bytes: &[u8]) -> Buffer {
        let name = c"raddle";
        Buffer {
            raw: llvm!(LLVMCreateMemoryBufferWithMemoryRangeCopy(
                bytes.as_ptr().cast(),
                bytes.len(),
                name.as_ptr()
            )),
        }
    }

    pub(super) fn bytes(&self) -> &[u8] {
        let start = llvm!(LLVMGetBufferStart(self.raw));
        let len = llvm!(LLVMGetBufferSize(self.raw));
        // SAFETY: LLVM returned both, and the bytes live until the buffer is disposed of.
        unsafe { std::slice::from_raw_parts(start.cast(), len) }
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        llvm!(LLVMDisposeMemoryBuffer(self.raw));
    }
}
