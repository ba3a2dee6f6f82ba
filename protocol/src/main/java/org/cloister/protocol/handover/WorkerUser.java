package org.cloister.protocol.handover;

/**
 * Project member as a worker's account.
 *
 * @param home below one of the top folders that {@link FolderPath} allows
 */
public record WorkerUser(String login, int uid, int gid, FolderPath home) {
    /** @throws IllegalArgumentException if it is not an account that may run jobs */
    public WorkerUser {
        HandoverChecks.that(
                LoginRules.FORM.matcher(login).matches(),
                "login",
                "a lower-case letter, and up to 30 letters, digits, _ or -",
                HandoverChecks.other(login));
        HandoverChecks.that(!LoginRules.isSystem(login), "login", "none of the system's names", login);
        HandoverChecks.within("uid", HandoverChecks.unsigned(uid), LoginRules.LEAST_ID, LoginRules.MOST_ID);
        HandoverChecks.within("gid", HandoverChecks.unsigned(gid), LoginRules.LEAST_ID, LoginRules.MOST_ID);
        home.requireInWorker("home");
    }

    static WorkerUser read(org.cloister.protocol.handover.wire.User wire) {
        return new WorkerUser(wire.getLogin(), wire.getUid(), wire.getGid(), new FolderPath(wire.getHome()));
    }

    org.cloister.protocol.handover.wire.User wire() {
        return org.cloister.protocol.handover.wire.User.newBuilder()
                .setLogin(login)
                .setUid(uid)
                .setGid(gid)
                .setHome(home.text())
                .build();
    }
}
