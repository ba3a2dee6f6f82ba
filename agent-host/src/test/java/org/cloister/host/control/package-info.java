/** The desk before real callers: processes of their own on a real socket. */
@NullMarked
package org.cloister.host.control;

import org.jspecify.annotations.NullMarked;
