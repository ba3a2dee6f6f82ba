/** What a VM is, on whose word, and why it is not believed (docs/protocol.md, section 11). */
@NullMarked
package org.cloister.protocol.evidence;

import org.jspecify.annotations.NullMarked;
