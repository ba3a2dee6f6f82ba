package org.cloister.protocol.handover;

import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * Accounts that may exist on a worker.
 *
 * @param projectGid of the group of all members
 * @param jobUid the job's user, one of the users
 */
public record WorkerAccounts(List<WorkerUser> users, int projectGid, int jobUid) {
    public static final int MAX_USERS = 2000;

    /** @throws IllegalArgumentException if two users share a name, number or home, or no user has the job's uid */
    public WorkerAccounts {
        users = List.copyOf(users);
        HandoverChecks.within("users", users.size(), 1, MAX_USERS);
        HandoverChecks.within(
                "gid of the project", HandoverChecks.unsigned(projectGid), LoginRules.LEAST_ID, LoginRules.MOST_ID);
        Set<Object> seen = new HashSet<>();
        for (WorkerUser user : users) {
            HandoverChecks.that(
                    seen.add(user.login()) && seen.add(user.uid()) && seen.add(user.home()),
                    "users",
                    "each login, uid and home once",
                    user.login() + ", " + user.uid() + " with one of another's");
        }
        int of = jobUid;
        HandoverChecks.that(users.stream().anyMatch(user -> user.uid() == of), "uid of the job", "a user's", jobUid);
    }

    public WorkerUser jobUser() {
        return users.stream().filter(user -> user.uid() == jobUid).findFirst().orElseThrow();
    }
}
