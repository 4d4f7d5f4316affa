# Tests of much load or of very many cases: what they show is a bound, a share or a rare state, and each path that they take others take as well. Under
# the sanitizers, which compile without optimization, one takes up to minutes; they are left out there.
set(FAIRLEAD_MUCH_WORK
    BoundsTest.*
    CombineTable.CountsAcrossGrowthAndKeySizes
    FairleadPropertyTest.WhyNamesEnoughAndNotTooMuchInTenThousandStates
    HistoryTest.OldTasksBecomeSummaries
    HttpTest.LongLastAnswersOfSeveralReadersArriveWhole
    HttpTest.RequestsAreTakenOnlyAsFarAsTheirAnswersAre
    Leadership.OneActsAndNothingAcknowledgedIsLost
    NodeTable.ForgetsTheOldestOfThoseThatWentAway
    RealDisk.AThousandRequestsOnEachOfAThousandConnectionsThatDoNotRead
    RealDisk.ApplicationsShareTheBandwidthNotTheirConnections
    RemoteBlocksTest.ABlockOfMoreThan2GiBIsReadInLittleMemory
    World.AHundredThousandNodeNamesDoNotStay
    World.NodesBeyondWhatAClusterCanHaveAreTurnedAway
    YarnFair.KeysAndLinesOfOneApplicationAreBounded)

# fairlead_test_under_sanitizers(TEST): what of it is run.
function(fairlead_test_under_sanitizers test)
  if(FAIRLEAD_SANITIZE)
    list(JOIN FAIRLEAD_MUCH_WORK ":" left_out)
    set_property(TEST ${test} APPEND PROPERTY ENVIRONMENT "GTEST_FILTER=-${left_out}")
  endif()
endfunction()
