/** LUKS2 volumes: libcryptsetup's functions, and volumes made, opened, closed and erased with them. */
@NullMarked
package org.cloister.luks.volume;

import org.jspecify.annotations.NullMarked;
