/** Guest images as {@code agentctl image} shows them. */
@NullMarked
package org.cloister.ctl.image;

import org.jspecify.annotations.NullMarked;
