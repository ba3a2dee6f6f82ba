/** The controlling VM's first message to a person: the SSH host key or a refusal. */
@NullMarked
package org.cloister.protocol.access;

import org.jspecify.annotations.NullMarked;
