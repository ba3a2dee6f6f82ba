/** Tunnels of a project as desired state, the guard around them, and what they are doing in plain words. */
@NullMarked
package org.cloister.ipsec;

import org.jspecify.annotations.NullMarked;
