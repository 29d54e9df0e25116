package sqlstore

// Hot are the statements whose time must not grow with the number of receipts, by name. The drivers' tests ask their
// databases how they would run each.
var Hot = map[string]string{
	"selectByIdentity": selectByIdentity,
	"selectByToken":    selectByToken,
	"deleteReceipt":    deleteReceipt,
	"waitingTenants":   waitingTenants,
	"lostTenants":      lostTenants,
	"existsLost":       existsLost,
	"pickWaiting":      pickWaiting,
	"pickLost":         pickLost,
	"takeReceipt":      takeReceipt,
	"putOffReceipt":    putOffReceipt,
	"selectBody":       selectBody,
	"selectSteps":      selectSteps,
	"fenceReceipt":     fenceReceipt,
	"fenceObject":      fenceObject,
	"extendLease":      extendLease,
	"extendObject":     extendObject,
	"finishReceipt":    finishReceipt,
	"requeueReceipt":   requeueReceipt,
	"freeObject":       freeObject,
	"wakeBlocked":      wakeBlocked,
}
