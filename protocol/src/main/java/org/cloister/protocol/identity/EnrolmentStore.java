package org.cloister.protocol.identity;

import java.io.IOException;
import java.util.List;
import java.util.Optional;

/** Keeps what is known of each name. */
public interface EnrolmentStore {
    Optional<Enrolment> find(Name name) throws IOException;

    List<Enrolment> all() throws IOException;

    /** In the place of what was known of its name; when this returns, no crash undoes it. */
    void put(Enrolment enrolment) throws IOException;
}
