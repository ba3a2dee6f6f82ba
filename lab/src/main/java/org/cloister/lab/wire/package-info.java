/** Cables of the lab, listened to frame by frame. */
@NullMarked
package org.cloister.lab.wire;

import org.jspecify.annotations.NullMarked;
