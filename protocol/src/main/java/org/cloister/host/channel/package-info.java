/** What a VM is, on whose word, and why it is not believed (docs/protocol.md, section 11). */
@NullMarked
package org.cloister.host.channel;

import org.jspecify.annotations.NullMarked;
