/** Conversations of the protocol with both ends as they are, whose paths fail at each place once. */
@NullMarked
package org.cloister.lab.conversation;

import org.jspecify.annotations.NullMarked;
