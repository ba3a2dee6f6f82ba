/** {@code br-secure} as desired state: {@link org.cloister.ovs.SecureBridge} is where to begin. */
@NullMarked
package org.cloister.ovs;

import org.jspecify.annotations.NullMarked;
