@NullMarked
package org.cloister.host.channel;

import org.jspecify.annotations.NullMarked;
