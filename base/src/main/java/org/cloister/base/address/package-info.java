/** IPv4 addresses, IPv4 networks and MAC addresses. */
@NullMarked
package org.cloister.base.address;

import org.jspecify.annotations.NullMarked;
