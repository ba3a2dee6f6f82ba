/** What users are told of jobs that wait. */
@NullMarked
package org.cloister.vm.status;

import org.jspecify.annotations.NullMarked;
