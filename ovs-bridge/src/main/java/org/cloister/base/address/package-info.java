/** {@code br-secure} as desired state: {@link org.cloister.ovs.SecureBridge} is where to begin. */
@NullMarked
package org.cloister.base.address;

import org.jspecify.annotations.NullMarked;
