/** Plans and reconciles tunnels; the tunnel guard. */
@NullMarked
package org.cloister.ipsec;

import org.jspecify.annotations.NullMarked;
